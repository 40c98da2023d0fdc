// A link leads to what was shown when it was copied.
import { describe, expect, it } from 'vitest';
import { formatRoute, linkTo, parseRoute } from './route';

describe('routes', () => {
  it('survive being written and read', () => {
    for (const hash of ['#/overview', '#/run/a-b?at=rates-0', '#/compare?reference=B&log=1']) {
      expect(formatRoute(parseRoute(hash))).toBe(hash);
    }
  });

  it('lead to the overview when they say nothing', () => {
    for (const hash of ['', '#', '#/', '#/elsewhere', '#%E0%A4%A']) {
      expect(parseRoute(hash).page).toBe('overview');
    }
    expect(parseRoute('#/run/%E0%A4%A').run).toBe('%E0%A4%A');
  });

  it('hold any text as a choice', () => {
    const choices = { filter: 'a&b=c #? é' };
    expect(parseRoute(linkTo('compare', null, choices)).choices).toEqual(choices);
  });
});
