// Tests of the lives of volumes.
import { describe, expect, it } from 'vitest';

import type { Life } from '../report';
import { lanesOf, livesOption, livesTable } from './lives';
import { context } from './testing';

const life: Life = {
  label: '/mnt/a',
  phases: [
    { name: 'create', from_ms: 0, to_ms: 10 },
    { name: 'provision', from_ms: 10, to_ms: 900 },
    { name: 'bind', from_ms: 10, to_ms: 1000 },
    { name: 'attach', from_ms: 1000, to_ms: 3000 },
  ],
  failed: null,
};

const lanes = (one: Life) => lanesOf(one).map(({ lane, of }) => `${lane + 1} of ${of}`);

describe('lives', () => {
  it('show phases that go on at the same time above each other', () => {
    expect(lanes(life)).toEqual(['1 of 1', '1 of 2', '2 of 2', '1 of 1']);
  });

  it('hide no phase where the volume is made while its pod waits for a node', () => {
    const waiting: Life = {
      label: 'waits',
      phases: [
        { name: 'create', from_ms: 0, to_ms: 10 },
        { name: 'provision', from_ms: 100, to_ms: 2100 },
        { name: 'bind', from_ms: 100, to_ms: 2250 },
        { name: 'schedule', from_ms: 20, to_ms: 3100 },
        { name: 'attach', from_ms: 3100, to_ms: 9000 },
      ],
      failed: null,
    };
    expect(lanes(waiting)).toEqual(['1 of 1', '1 of 3', '2 of 3', '3 of 3', '1 of 1']);
  });

  it('stand where a lane is free again', () => {
    const phases = [[0, 10], [5, 20], [12, 30]].map(([from_ms, to_ms]) => ({ name: `${from_ms}`, from_ms, to_ms }));
    expect(lanes({ label: '', phases, failed: null })).toEqual(['1 of 2', '2 of 2', '1 of 2']);
  });

  it('count from what every life begins with: one that is used again or moved sends no claim', () => {
    expect(livesOption([life], context(), '').xAxis.name).toBe('since the volume was asked for');
  });

  it('have a table of all phases', () => {
    expect(livesTable('', [life]).columns[4].values).toEqual(['10.0 ms', '890 ms', '990 ms', '2.00 s']);
  });
});
