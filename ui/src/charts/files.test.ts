// Tests of the charts of sets of files: bars, lines over lengths, and how much slower than the best.
import { describe, expect, it } from 'vitest';

import type { FileClass, FilePhaseView } from '../report';
import { filesHeight, filesOption, filesTable, linesOf, logFloor, phasesOf, targetsOf } from './files';
import { coloursOf, sizesHeight, sizesOption, sizesTitle, withLength } from './sizes';
import { placeText, slowerCells, slowerMaps, slowerOption, slowerTable, slowerTitle } from './slower';
import { context } from './testing';

const KIB = 1024;
const phase = (name: string, rate: number, size: number, cached: string | null = null): FilePhaseView => ({
  name,
  files_per_second: rate,
  interval: name === 'write' ? [rate * 0.9, rate * 1.1] : null,
  bytes_per_second: name === 'stat' ? null : rate * size,
  p99_us: null,
  cached,
});
const ofSize = (size_bytes: number, rates: Record<string, [number, number]>): FileClass => ({
  title: `files of ${size_bytes}`,
  size_bytes,
  rows: Object.entries(rates).map(([target, [write, read]]) => ({
    target,
    files: 1000,
    phases: [
      phase('write', write, size_bytes),
      phase('read', read, size_bytes, target === 'disk' ? 'above the limit' : null),
    ],
  })),
});
const classes = [
  ofSize(10 * KIB, { disk: [100, 20_000], share: [25, 40], slow: [20, 20] }),
  ofSize(1024 * KIB, { disk: [20, 1000], share: [40, 30], slow: [10, 20] }),
];

describe('bars of files', () => {
  it('have a line for each phase, and names of targets', () => {
    expect([targetsOf(classes), phasesOf(classes)]).toEqual([['disk', 'share', 'slow'], ['write', 'read']]);
    const wide = linesOf(classes[0].rows, false);
    expect(wide.map((line) => line.label.target)).toEqual(['disk', '', '', 'share', '', '', 'slow', '']);
    const narrow = linesOf(classes[0].rows, true);
    expect(narrow.map((line) => line.phase?.name ?? line.label.target)).toEqual(
      ['disk', 'write', 'read', 'share', 'write', 'read', 'slow', 'write', 'read'],
    );
    expect(linesOf(classes[0].rows.slice(0, 1), true).map((line) => line.label.target)).toEqual(['', '']);
  });

  it('begin at nought, and are hollow where a cache answered', () => {
    const option = filesOption(classes[0].rows, false, context(), '');
    const data = option.series[0].data as ({ value: number; itemStyle: { borderType?: string } } | null)[];
    expect(data.map((each) => each?.value)).toEqual([100, 20_000, undefined, 25, 40, undefined, 20, 20]);
    expect(data.map((each) => each?.itemStyle.borderType === 'dashed')).toEqual(
      [false, true, false, false, false, false, false, false],
    );
    expect(option.xAxis).toMatchObject({ type: 'value', min: 0 });
    expect(option.xAxis.max).toBeGreaterThan(20_000);
  });

  it('begin at a power of ten where the axis is logarithmic', () => {
    const option = filesOption(classes[0].rows, true, context(), '');
    expect(option.xAxis).toMatchObject({ type: 'log', min: 10, startValue: 10 });
    expect([logFloor([0.21, 5]), logFloor([100]), logFloor([])]).toEqual([0.1, 10, 1]);
  });

  it('have whiskers where intervals are known', () => {
    const option = filesOption(classes[0].rows, false, context(), '');
    const ends = (option.series[1].data as number[][]).map((each) => each.map(Math.round));
    expect(ends).toEqual([[0, 90, 110], [1, 20_000, 20_000], [3, 23, 28], [4, 40, 40], [6, 18, 22], [7, 20, 20]]);
    expect(filesHeight(classes[0].rows, false)).toBeGreaterThan(8 * 18);
  });

  it('have all numbers in their table', () => {
    const table = filesTable(classes, 'files');
    expect(table.columns[0].values).toHaveLength(12);
    expect(table.columns[8].values.slice(0, 3)).toEqual(['storage', 'page cache: above the limit', 'storage']);
    expect(filesTable(classes, 'files', 'read').columns[3].values).toEqual(Array(6).fill('read'));
  });
});

describe('lines over lengths of files', () => {
  it('have a panel for each number, and a line for each target', () => {
    const option = sizesOption(classes, 'write', [0, 1, 2], context(), '');
    expect(option.grid).toHaveLength(2);
    expect(option.series).toHaveLength(6);
    const values = option.series[0].data?.map((each) => (each as { value: number[] }).value);
    expect(values).toEqual([[10 * KIB, 100 * 10 * KIB], [1024 * KIB, 20 * 1024 * KIB]]);
    expect(sizesHeight(classes, 'write', context())).toBeGreaterThan(400);
  });

  it('leave out empty files, which have no place on a logarithmic axis', () => {
    const all = [ofSize(0, { disk: [9000, 9000] }), ...classes];
    expect(withLength(all)).toEqual(classes);
    expect(sizesTitle(withLength(all), 'write')).not.toContain('files of 0 B');
  });

  it('have hollow points where a cache answered', () => {
    const option = sizesOption(classes, 'read', [0, 1, 2], context(), '');
    const [first] = option.series[0].data as { itemStyle: { borderColor?: string } }[];
    expect(first.itemStyle.borderColor).toBe('series-1');
  });

  it('have one panel for phases that carry no data', () => {
    const rows = [{ target: 'disk', files: 9, phases: [phase('stat', 9000, KIB)] }];
    expect(sizesOption([{ ...classes[0], rows }], 'stat', [0], context(), '').grid).toHaveLength(1);
  });

  it('are titled by the fastest of what was measured', () => {
    expect(sizesTitle(classes, 'write')).toBe(
      'write: disk is fastest with files of 10 KiB (1.02 MB/s) and share with files of 1 MiB (41.9 MB/s)',
    );
    expect(sizesTitle(classes, 'read')).toBe(
      'read: share is fastest with files of 10 KiB (0.410 MB/s) and of 1 MiB (31.5 MB/s); ' +
        '2 of 6 numbers are of a cache and left out',
    );
  });

  it('keep colours of targets unless two would have the same', () => {
    expect(coloursOf(['a', 'b'], (target) => ({ a: 3, b: 5 })[target] ?? 0)).toEqual([3, 5]);
    expect(coloursOf(['a', 'b'], () => 0)).toEqual([0, 1]);
  });
});

describe('how much slower than the best', () => {
  it('leaves out what a cache answered', () => {
    const [write, read] = slowerMaps(classes);
    expect(slowerCells(classes, read).map((cell) => cell.times)).toEqual([null, 1, 2, null, 1, 1.5]);
    expect(slowerCells(classes, write).map(placeText)).toEqual(['best', '4.0x', '5.0x', '2.0x', 'best', '4.0x']);
    expect(slowerTitle(classes, read)).toBe(
      'read: slow is up to 2.0 times slower than the best, with files of 10 KiB; ' +
        '2 of 6 numbers are of a cache and left out',
    );
  });

  it('is only said where intervals do not overlap', () => {
    const near = ofSize(KIB, { fast: [100, 50], slow: [90, 50] });
    const map = slowerMaps([near])[0];
    expect(slowerTitle([near], map)).toBe('files of 1 KiB: nothing is surely slower than the best');
    const far = ofSize(KIB, { fast: [100, 50], slow: [70, 50] });
    expect(slowerTitle([far], map)).toContain('slow is up to 1.4 times slower than the best, with write');
  });

  it('has a place for each target and length', () => {
    const [write, read] = slowerMaps(classes);
    expect(slowerOption(classes, write, context(390), '').series[0].data).toHaveLength(6);
    const { columns } = slowerTable(classes, read);
    expect(columns.map((column) => column.values)).toEqual([
      ['disk', 'share', 'slow'],
      ['page cache', '1.00', '2.0'],
      ['page cache', '1.00', '1.5'],
    ]);
  });

  it('has phases as columns where there is one length', () => {
    const [map, ...others] = slowerMaps(classes.slice(0, 1));
    expect([map.name, map.columns.map((column) => column.label), others]).toEqual(
      ['files of 10 KiB', ['write', 'read'], []],
    );
    expect(slowerTitle(classes.slice(0, 1), map)).toContain('slow is up to 5.0 times slower than the best, with write');
  });
});
