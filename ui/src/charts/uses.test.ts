// Tests of the matrix of uses and targets.

import { describe, expect, it } from 'vitest';

import type { Use } from '../report';
import { place, times, useMatrix, usesTable, usesTitle } from './uses';

const etcd: Use = {
  name: 'etcd',
  title: 'etcd: fast is best',
  unit: 'syncs/s',
  targets: [
    { side: 'A', target: 'fast', value: 412, times_worse: 1, is_sure: true },
    { side: 'B', target: 'near', value: 400, times_worse: 1.03, is_sure: false, is_as_good: true },
    { side: 'C', target: 'slow', value: 41.2, times_worse: 10, is_sure: true },
  ],
};
const media: Use = {
  name: 'media',
  title: 'media: slow is best',
  unit: 'MB/s',
  targets: [
    { side: 'C', target: 'slow', value: 250, times_worse: 1, is_sure: true },
    { side: 'A', target: 'fast', value: 109, times_worse: 2.294, is_sure: true },
  ],
};

describe('uses', () => {
  it('have a word and an icon in every place', () => {
    const { columns, rows } = useMatrix([etcd, media]);
    expect(columns.map((column) => column.label)).toEqual(['A: fast', 'C: slow', 'B: near']);
    expect(rows[0]!.places.map((at) => `${at.icon} ${at.word}`)).toEqual(['★ best', '▼ 10.0x worse', '≈ as good']);
    expect(rows[1]!.places.map((at) => `${at.icon} ${at.word}`)).toEqual(['▼ 2.3x worse', '★ best', '– not measured']);
    expect(rows[0]!.places[0]!.value).toBe('412 syncs/s');
    expect(rows[0]!.places[1]!.share).toBeCloseTo(0.1);
  });

  it('do not call a number best or as good that may be chance', () => {
    const unsure = { ...media, targets: media.targets.map((target) => ({ ...target, is_sure: false })) };
    const words = useMatrix([unsure]).rows[0].places.map((at) => `${at.icon} ${at.word}`);
    expect(words).toEqual(['☆ first, not sure', '? 2.3x worse, not sure']);
    const close = { ...etcd.targets[1], is_as_good: false };
    expect(place(etcd, close)).toMatchObject({ icon: '?', word: '1.03x worse, not sure' });
  });

  it('do not put what a cache answered in any order', () => {
    const cached = { ...etcd.targets[2], value: 76_500, times_worse: null, is_sure: false, is_cached: true };
    expect(place(etcd, cached)).toMatchObject({ grade: 'cached', word: 'a cache answered', share: 0 });
    const all = { ...etcd, targets: etcd.targets.map((target) => ({ ...target, is_cached: true, is_sure: false })) };
    expect(useMatrix([all]).rows[0].places.map((at) => at.grade)).toEqual(['cached', 'cached', 'cached']);
  });

  it('show times as times', () => {
    expect(place({ ...media, unit: 's' }, { ...media.targets[0], value: 11_500 }).value).toBe('3h 11m');
  });

  it('tell sides of the same name apart by their letters', () => {
    const twice = { ...media, targets: media.targets.map((target) => ({ ...target, target: 'one' })) };
    expect(useMatrix([twice]).columns.map((column) => column.label)).toEqual(['C: one', 'A: one']);
  });

  it('are titled by who is best for certain', () => {
    const unsure = { ...media, targets: media.targets.map((target) => ({ ...target, is_sure: false })) };
    expect(usesTitle([etcd, media])).toBe('A: fast is best in 1 of 2 uses, C: slow in 1');
    expect(usesTitle([etcd, etcd])).toBe('A: fast is best in both uses');
    expect(usesTitle([etcd])).toBe('A: fast is best in the one use');
    expect(usesTitle([etcd, unsure, unsure])).toBe('A: fast is best in 1 of 3 uses; no order is sure in 2');
    expect(usesTitle([unsure, unsure])).toBe('No order is sure in any of 2 uses');
    expect(usesTitle([unsure])).toBe('No order is sure in the one use');
    expect(usesTitle([{ ...etcd, targets: etcd.targets.slice(0, 1) }])).toBe('What fast does in 1 use');
  });

  it('have a table of all numbers', () => {
    const table = usesTable([etcd, media]);
    expect(table.columns.map((column) => column.values.length)).toEqual([5, 5, 5, 5, 5, 5]);
    expect(table.columns[5]!.values[2]).toBe('10.0x worse');
    expect([times(1.06), times(2.3), times(369.2)]).toEqual(['1.06', '2.3', '369']);
  });
});
