// Tests of the chart of a rate over runs.
import { describe, expect, it } from 'vitest';

import type { Trend, TrendPoint } from '../report';
import { context } from './testing';
import { bandCorners, changeLabel, changeTime, environments, rateAxis, trendOption, trendTable } from './trend';

const point = (day: number, iops: number, more: Partial<TrendPoint> = {}): TrendPoint => ({
  run: `run-${day}`,
  started: `2026-05-0${day}T00:00:00Z`,
  iops,
  interval: [iops - 10, iops + 10],
  p99_us: 1000,
  word: 'steady',
  environment: [],
  ...more,
});
const change = { at: 2, ratio: 0.8, interval: [0.78, 0.82] as [number, number], text: 'fewer writes' };
const trend: Trend = {
  title: 'writes do 20 % less since 2026-05-03',
  target: '/mnt/a',
  workload: 'randwrite',
  operation: 'write',
  unit: 'IOPS',
  points: [
    point(1, 1000),
    point(2, 1010, { word: 'drifting' }),
    point(3, 800, { environment: ['kernel 6.8 instead of 6.5'] }),
    point(5, 810, { interval: null }),
  ],
  compared: 3,
  changes: [change],
  band: [800, 810],
};

describe('a trend', () => {
  it('has a point for each run, of another shape where it is not steady', () => {
    const { series } = trendOption(trend, context(), '');
    const points = series[0].data as { value: [number, number]; symbol: string }[];
    expect(points.map((each) => each.value[1])).toEqual([1000, 1010, 800, 810]);
    expect(points.map((each) => each.symbol)).toEqual(['circle', 'diamond', 'circle', 'circle']);
  });

  it('has whiskers where intervals are known', () => {
    const { series } = trendOption(trend, context(), '');
    const whiskers = series[1].data as number[][];
    expect(whiskers.map(([, low, high]) => [low, high])).toEqual([[990, 1010], [1000, 1020], [790, 810]]);
  });

  it('has its band from the last change on', () => {
    const corners = bandCorners(trend);
    expect(corners?.map((corner) => corner.yAxis)).toEqual([800, 810]);
    expect(corners?.[0].xAxis).toBeGreaterThan(Date.parse('2026-05-02T12:00:00Z'));
    expect(corners?.[0].xAxis).toBeLessThanOrEqual(Date.parse('2026-05-03T00:00:00Z'));
    expect(bandCorners({ ...trend, band: null })).toBeNull();
  });

  it('marks changes between two runs', () => {
    expect(changeTime(trend, change)).toBe(Date.parse('2026-05-02T12:00:00Z'));
    expect(changeTime(trend, { ...change, at: 9 })).toBeNull();
    const labels = [0.88, 1.34, 2.3, 0.4].map((ratio) => changeLabel({ ...change, ratio }));
    expect(labels).toEqual(['▼ -12 %', '▲ +34 %', '▲ 2.30x', '▼ 0.40x']);
  });

  it('has letters where the environment is another', () => {
    expect(environments(trend).map((at) => [at.letter, at.index])).toEqual([['a', 2]]);
    const many = { ...trend, points: Array.from({ length: 28 }, () => trend.points[2]) };
    expect(environments(many).map((at) => at.letter).slice(24)).toEqual(['y', 'z', 'aa', 'ab']);
  });

  it('begins its axis at nought unless all rates are close together', () => {
    expect(rateAxis(trend).fromZero).toBe(false);
    expect(rateAxis(trend).min).toBeLessThan(790);
    const wide = { ...trend, points: [point(1, 100), point(2, 1000)], band: null };
    expect(rateAxis(wide)).toMatchObject({ min: 0, fromZero: true });
    expect(rateAxis({ ...trend, points: [], band: null })).toEqual({ min: 0, max: 1, fromZero: true });
  });

  it('names the runs that are baselines, where they stand and in a column of its table', () => {
    const marked = { ...trend, points: trend.points.map((at, index) => (index === 1 ? { ...at, baselines: ['before'] } : at)) };
    const labels = (of: Trend) =>
      (trendOption(of, context(), '').series[0].data as { label: { show: boolean; formatter: string } }[])
        .flatMap(({ label }) => (label.show ? [label.formatter] : []));
    expect([labels(trend), labels(marked)]).toEqual([[], ['before']]);
    const column = (of: Trend) => trendTable(of, (run) => run).columns.find((each) => each.head === 'baseline');
    expect([column(trend), column(marked)?.values]).toEqual([undefined, ['', 'before', '', '']]);
  });

  it('counts files where files are counted', () => {
    const files = { ...trend, unit: 'files/s' };
    expect(trendOption(files, context(), '').yAxis.name).toBe('files/s, not from 0');
    expect(trendTable(files, (run) => run).columns[2].head).toBe('files/s');
  });

  it('has all numbers in its table', () => {
    const { columns } = trendTable(trend, (run) => run);
    expect(columns.map((column) => column.values[2])).toEqual([
      '2026-05-03 00:00 UTC',
      'run-3',
      '800',
      '790 to 810',
      '1.00 ms',
      'steady',
      '▼ -20 %',
      'a: kernel 6.8 instead of 6.5',
    ]);
  });
});
