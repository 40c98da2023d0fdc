// Tests of the lives of volumes.
import { describe, expect, it } from 'vitest';

import type { Life } from '../report';
import { lanesOf, livesTable } from './lives';

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

describe('lives', () => {
  it('show phases that go on at the same time above each other', () => {
    expect(lanesOf(life)).toEqual(['whole', 'upper', 'lower', 'whole']);
  });

  it('have a table of all phases', () => {
    expect(livesTable('', [life]).columns[4].values).toEqual(['10.0 ms', '890 ms', '990 ms', '2.00 s']);
  });
});
