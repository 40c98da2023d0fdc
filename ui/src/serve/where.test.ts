// An address leads to the part of the history that it was copied from, and a report in it keeps its own addresses.
import { afterEach, describe, expect, it } from 'vitest';
import { formatRoute, linkTo, NO_FRAME, parseRoute, standIn } from '../lib/route';
import { EVERYTHING, frameOf, linkToLive, linkToReport, linkToRuns, parseWhere, pathOfRuns } from './where';

afterEach(() => standIn(NO_FRAME));

describe('addresses of the list', () => {
  it('survive being written and read', () => {
    const listing = { text: 'a&b=c #? é', target: '/mnt/a', tags: ['host=a b', 'n=1=2'], page: 3 };
    expect(parseWhere(linkToRuns(listing))).toEqual({ kind: 'runs', listing });
    expect(linkToRuns()).toBe('#/runs');
  });

  it('say nothing where they make no sense', () => {
    for (const hash of ['', '#', '#/elsewhere', '#/runs?page=-1', '#/runs?page=1.5', '#/runs?tag==v']) {
      expect(parseWhere(hash)).toEqual({ kind: 'runs', listing: EVERYTHING });
    }
  });

  it('ask for a page of the list', () => {
    const path = pathOfRuns({ text: '', target: '', tags: ['a=b', 'c=d'], page: 3 }, 100);
    expect(path).toBe('/api/runs?tag=a%3Db&tag=c%3Dd&limit=100&offset=200');
  });
});

describe('addresses of reports', () => {
  it('name their runs', () => {
    expect(linkToReport(['a', 'b'])).toBe('#/report?runs=a,b');
    expect(parseWhere('#/report/compare?reference=B&runs=a,b')).toEqual({ kind: 'report', runs: ['a', 'b'] });
    expect(parseWhere('#/report')).toEqual({ kind: 'report', runs: [] });
  });

  it('keep what leads into the report', () => {
    const hash = '#/report/run/a-b?runs=a,b&at=rates-0';
    standIn(frameOf(hash));
    expect(parseRoute(hash)).toEqual({ page: 'run', run: 'a-b', choices: { at: 'rates-0' } });
    expect(formatRoute(parseRoute(hash))).toBe(hash);
    expect(linkTo('compare', null, { reference: 'B' })).toBe('#/report/compare?runs=a,b&reference=B');
    expect(parseRoute('#/report?runs=a,b').page).toBe('overview');
  });

  it('are those of a report alone where there is no server', () => {
    expect(linkTo('compare', null, { filter: 'a,b' })).toBe('#/compare?filter=a%2Cb');
    expect(parseRoute('#/report/compare').page).toBe('overview');
  });
});

describe('addresses of what is going on', () => {
  it('name a run, and stay with it', () => {
    expect(parseWhere(linkToLive('a/b'))).toEqual({ kind: 'live', id: 'a/b' });
    expect(parseWhere('#/live')).toEqual({ kind: 'live', id: null });
    standIn(frameOf('#/live/x'));
    expect(linkTo('run', 'x', { at: 'cell-0' })).toBe('#/live/x/run/x?at=cell-0');
    expect(parseWhere('#/live/x/run/x?at=cell-0')).toEqual({ kind: 'live', id: 'x' });
    expect(parseRoute('#/live/x/run/x?at=cell-0')).toEqual({ page: 'run', run: 'x', choices: { at: 'cell-0' } });
    expect(parseRoute('#/live/x').page).toBe('overview');
  });

  it('may be anything', () => {
    expect(parseWhere('#/live/%E0%A4%A')).toEqual({ kind: 'live', id: '%E0%A4%A' });
  });
});
