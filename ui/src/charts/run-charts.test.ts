// Charts of a run show every stretch and every operation, and say what they leave out.
import { describe, expect, it } from 'vitest';
import { SERIES_COUNT, TOKEN_NAMES, type ChartContext, type Tokens } from '../lib/theme';
import type { LatencyCurve, Rates, Stretch } from '../report';
import { dots, latencyBands, line } from './band';
import { classesOf, histogramTitle } from './histogram';
import { curvesTitle, latenciesOption, latenciesTable, spotsOf } from './latencies';
import { overlayOption, overlayTable, overlayTitle } from './overlay';
import { beyondText, extent, limitsOf, panelsOf, ratesTable, windowText } from './rates';
import { ratesCloser, ratesOption } from './rates-chart';

const context: ChartContext = {
  tokens: Object.fromEntries(TOKEN_NAMES.map((name) => [name, '#000000'])) as Tokens,
  palette: Array.from({ length: SERIES_COUNT }, () => '#000000'),
  narrow: false,
  print: false,
  width: 900,
};

function stretch(
  part: Stretch['part'], t_ms: number[], iops: number, p99: number | null = 900, length_ms = 1000,
): Stretch {
  const all = <T>(value: T) => t_ms.map(() => value);
  const [begin_ms, end_ms] = [t_ms[0] - length_ms / 2, t_ms[t_ms.length - 1] + length_ms / 2];
  return {
    part, begin_ms, end_ms, t_ms, iops: all(iops), extremes: [], bytes_per_second: all(iops * 4096), p50_us: all(100), p99_us: all(p99),
  };
}

const rates: Rates = {
  title: 'a sentence',
  stretches: [
    stretch('warm_up', [10_500, 11_500], 500),
    stretch('counted', [12_500, 13_500, 14_500, 15_500], 400),
    stretch('counted', [30_500], 300, null),
  ],
  window_ms: [12_000, 31_000],
  limits: [
    { name: 'lasting', iops: 500, bytes_per_second: 100e6 },
    { name: 'burst', iops: 3500, bytes_per_second: null },
  ],
  seconds_a_point: 1,
};

describe('rates over time', () => {
  it('break between stretches, and show short ones as points', () => {
    const read = (one: Stretch, index: number) => one.iops[index];
    expect(line(rates.stretches, read).filter((point) => point[1] === null)).toHaveLength(3);
    expect(dots(rates.stretches, read)).toEqual([[10.5, 500], [11.5, 500], [30.5, 300]]);
    expect(latencyBands(rates.stretches)).toHaveLength(2);
    expect(rates.stretches.map(extent)).toEqual([[10, 12], [12, 16], [30, 31]]);
  });

  it('shade as warm-up what was warm-up, however short it was', () => {
    const short = {
      ...rates,
      stretches: [stretch('warm_up', [514], 500, 900, 250), stretch('counted', [1139], 400)],
      window_ms: [639, 1639] as [number, number],
    };
    const option = ratesOption(short, context, '');
    const areas = (option.series[0] as { markArea: { data: { xAxis: number }[][] } }).markArea.data;
    expect(areas.map((area) => area.map((end) => end.xAxis))).toEqual([[0.389, 0.639], [0.639, 1.639], [0.639, 1.639]]);
    const sides = [{ name: 'A', rates: short, colour: 0 }];
    const time = overlayTable('', sides).columns;
    expect(time[1].values).toEqual(['0.13 s', '0.75 s']);
    expect(time[2].values).toEqual(['warming up', 'counted']);
    // What does not count is not drawn like what does.
    const lines = overlayOption(sides, context, '').series.filter((one) => one.type === 'line');
    expect(lines.map((one) => one.itemStyle.opacity)).toEqual([1, 0.4]);
    expect(lines.map((one) => one.data[0])).toEqual([[0.75, 400], [0.125, 500]]);
    expect(overlayTitle('randread', [...sides, { ...sides[0], name: 'B' }])).toBe(
      'randread: the median second has 400 IOPS on A and 400 IOPS on B',
    );
  });

  it('draw limits within reach, and tell of others', () => {
    expect(limitsOf(rates, 'iops').shown).toEqual([['lasting', 500]]);
    expect(beyondText(rates)).toBe('Far above what is drawn: burst (3,500 IOPS), lasting (100 MB/s).');
  });

  it('have a panel for each number that is known, and ticks of a clock', () => {
    expect(panelsOf(rates).map((panel) => panel.key)).toEqual(['iops', 'bytes', 'latency']);
    const option = ratesOption(rates, context, '');
    expect(option.xAxis[0]).toMatchObject({ min: 10, max: 31 });
    expect(option.xAxis[0].axisTick.customValues).toEqual([10, 15, 20, 25, 30]);
    expect(ratesCloser(rates, context, [0, 10]).xAxis[0].axisTick.customValues.length).toBeGreaterThan(3);
    expect(windowText(rates)).toBe('0:12 to 0:31');
    expect(ratesTable(rates).columns[1].values).toHaveLength(7);
    expect(ratesTable(rates).columns[5].values.at(-1)).toBe('-');
  });
});

describe('latencies', () => {
  const curve: LatencyCurve = {
    operation: 'read',
    operations: 1000,
    percentiles: [
      { percent: 10, latency_us: 50 },
      { percent: 50, latency_us: 100, interval_us: [90, 110] },
      { percent: 99, latency_us: 3900, interval_us: [3000, 4000] },
      { percent: 99.9, latency_us: 4000, is_at_least: true, interval_us: [3000, null] },
      { percent: 100, latency_us: 9000 },
    ],
    histogram: [[100, 10], [110, 80], [121, 10], [1000, 1]],
  };

  it('have a place on the axis when they are rare, but not when they are the longest', () => {
    expect(spotsOf(curve).map((spot) => spot.place)).toEqual([2, 100, 1000]);
    const option = latenciesOption([{ name: 'read', curve, colour: 0, look: 0 }], context, '');
    expect(option.xAxis).toMatchObject({ min: 2, max: 1000 });
    expect(option.yAxis.max).toBeGreaterThanOrEqual(4000);
  });

  it('are never called at most what may be longer than was measured', () => {
    const named = (name: string, curve: LatencyCurve) => ({ name, curve, colour: 0, look: 0 });
    expect(latenciesTable('', [named('read', curve)]).columns[2].values).toEqual(
      ['50.0 us', '100 us', '3.90 ms', '≥ 4.00 ms', '9.00 ms'],
    );
    const open = { ...curve, percentiles: curve.percentiles.map((point) => ({ ...point, is_at_least: true })) };
    expect(curvesTitle('job', [named('A read', curve), named('B read', open)])).toBe(
      'job: 99 % of reads take at most 3.90 ms on A; p99 of reads is at least 3.90 ms on B',
    );
    expect(curvesTitle('job', [named('A read', curve), named('B read', curve)])).toBe(
      'job: 99 % of reads take at most 3.90 ms on A and 3.90 ms on B',
    );
  });

  it('fall into classes that are no wider than others', () => {
    const classes = classesOf(curve);
    expect(classes.map((one) => one.operations)).toEqual([10, 80, 10, 1]);
    expect(classes[3].from).toBeGreaterThan(800);
    expect(classes.reduce((sum, one) => sum + one.share, 0)).toBeCloseTo(1, 9);
    expect(histogramTitle([curve])).toBe('90 % of 101 read operations took 86.6 us to 121 us');
  });
});
