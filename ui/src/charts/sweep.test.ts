// Tests of the heat map of a sweep.
import { describe, expect, it } from 'vitest';

import type { Sweep, SweepCell } from '../report';
import {
  crossoverRow,
  crossoverText,
  sweepBounds,
  sweepHeight,
  sweepOption,
  sweepTable,
  sweepText,
  sweepTitle,
  sweepUnit,
  sweepValue,
} from './sweep';
import { context } from './testing';

const KIB = 1024;
const cell = (block_size: number, depth: number, iops: number, more: Partial<SweepCell> = {}): SweepCell => ({
  block_size,
  depth,
  iops,
  bytes_per_second: iops * [4, 16, 64][block_size] * KIB,
  p99_us: 500,
  word: 'steady',
  is_knee: false,
  ...more,
});
const sweep: Sweep = {
  title: 'sixteen in flight have nearly all',
  run: 'run',
  target: '/mnt/a',
  pattern: 'randread',
  block_sizes: [4 * KIB, 16 * KIB, 64 * KIB],
  depths: [1, 8],
  cells: [
    cell(0, 0, 100),
    cell(0, 1, 1000, { is_knee: true }),
    cell(1, 0, 100, { word: 'unstable' }),
    cell(1, 1, 900, { p99_us: null }),
    cell(2, 0, 90),
  ],
  crossover_bytes: 33_333,
};

describe('a sweep', () => {
  it('shows the number that was chosen', () => {
    expect(sweepValue(sweep.cells[0], 'iops')).toBe(100);
    expect(sweepText(sweepValue(sweep.cells[0], 'throughput'), 'MB/s')).toBe('0.410');
    expect([sweepText(500, 'us'), sweepText(null, 'us'), sweepText(7499, 'IOPS')]).toEqual(['500', '–', '7.50k']);
    expect([sweepUnit(sweep, 'iops'), sweepUnit(sweep, 'p99')]).toEqual(['IOPS', 'us']);
    const slow = { ...sweep, cells: [cell(0, 0, 9, { p99_us: 2550 })] };
    expect(sweepText(2550, sweepUnit(slow, 'p99'))).toBe('2.55');
  });

  it('has a cell for each that was measured, by depth and block size', () => {
    const { series, xAxis, yAxis } = sweepOption(sweep, 'iops', context(), '');
    expect(series[0].data).toEqual([[0, 0, 100], [1, 0, 1000], [0, 1, 100], [1, 1, 900], [0, 2, 90]]);
    expect([xAxis.data, yAxis.data]).toEqual([['1', '8'], ['4 KiB', '16 KiB', '64 KiB']]);
    expect(sweepHeight(sweep)).toBeGreaterThan(90);
  });

  it('has a title about the number that is shown', () => {
    expect(sweepTitle(sweep, 'iops')).toBe(sweep.title);
    expect(sweepTitle(sweep, 'throughput')).toBe(
      'from 0.410 MB/s at 4 KiB, 1 in flight to 14.7 MB/s at 16 KiB, 8 in flight',
    );
    const slow = { ...sweep, cells: [cell(0, 0, 9), cell(2, 1, 9, { p99_us: 900 })] };
    expect(sweepTitle(slow, 'p99')).toBe('p99 from 500 us at 4 KiB, 1 in flight to 900 us at 64 KiB, 8 in flight');
  });

  it('marks where throughput takes over, between two block sizes', () => {
    expect(crossoverRow(sweep)).toBe(1);
    expect(sweepOption(sweep, 'iops', context(), '').series.map((each) => each.id)).toEqual(['cells', 'crossover']);
    expect(crossoverText(sweep)).toContain('32.6 KiB');
  });

  it('says so where it is beyond the sweep', () => {
    const [small, large, none] = [1000, 64 * KIB, null].map((crossover_bytes) => ({ ...sweep, crossover_bytes }));
    expect([crossoverRow(small), crossoverRow(large), crossoverRow(none)]).toEqual([null, null, null]);
    expect(crossoverText(small)).toMatch(/^Throughput is the limit of all/);
    expect(crossoverText(large)).toMatch(/^Operations are the limit of all/);
    expect(crossoverText(none)).toBeNull();
  });

  it('gives numbers that are close together colours that are', () => {
    expect(sweepBounds(sweep, 'iops')).toEqual([90, 1000]);
    expect(sweepBounds({ ...sweep, cells: [cell(0, 0, 119), cell(0, 1, 120)] }, 'iops')).toEqual([60, 120]);
  });

  it('has the best of each row and column in its table', () => {
    const { columns } = sweepTable(sweep, 'iops');
    expect(columns.map((column) => column.head)).toEqual(['block size', '1 in flight', '8 in flight', 'highest']);
    expect(columns[1].values).toEqual(['100', '100 (unstable)', '90.0', '100']);
    expect(columns[2].values).toEqual(['1.00k (knee)', '900', '', '1.00k']);
    expect(columns[3].values).toEqual(['1.00k', '900', '90.0', '1.00k']);
    expect(sweepTable(sweep, 'p99').columns[3].head).toBe('lowest');
  });
});
