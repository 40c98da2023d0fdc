// Charts of a run show every stretch and every operation, and say what they leave out.
import { describe, expect, it } from 'vitest';
import { SERIES_COUNT, TOKEN_NAMES, type ChartContext, type Tokens } from '../lib/theme';
import type { LatencyCurve, Rates, Stretch } from '../report';
import { dots, latencyBands, line } from './band';
import { classesOf, histogramTitle } from './histogram';
import { latenciesOption, spotsOf } from './latencies';
import { beyondText, extentsOf, limitsOf, panelsOf, ratesTable, windowText } from './rates';
import { ratesCloser, ratesOption } from './rates-chart';

const context: ChartContext = {
  tokens: Object.fromEntries(TOKEN_NAMES.map((name) => [name, '#000000'])) as Tokens,
  palette: Array.from({ length: SERIES_COUNT }, () => '#000000'),
  narrow: false,
  print: false,
  width: 900,
};

function stretch(part: Stretch['part'], t_ms: number[], iops: number, p99: number | null = 900): Stretch {
  const all = <T>(value: T) => t_ms.map(() => value);
  return {
    part, t_ms, iops: all(iops), extremes: [], bytes_per_second: all(iops * 4096), p50_us: all(100), p99_us: all(p99),
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
    expect(extentsOf(rates.stretches, 1)).toEqual([[10, 12], [12, 16], [30, 31]]);
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
      { percent: 99.9, latency_us: 4000, interval_us: [3000, null] },
      { percent: 100, latency_us: 9000 },
    ],
    histogram: [[100, 10], [110, 80], [121, 10], [1000, 1]],
  };

  it('have a place on the axis when they are rare, but not when they are the longest', () => {
    expect(spotsOf(curve).map((spot) => spot.place)).toEqual([2, 1000]);
    const option = latenciesOption([{ name: 'read', curve, colour: 0, look: 0 }], context, '');
    expect(option.xAxis).toMatchObject({ min: 2, max: 1000 });
    expect(option.yAxis.max).toBeGreaterThanOrEqual(4000);
  });

  it('fall into classes that are no wider than others', () => {
    const classes = classesOf(curve);
    expect(classes.map((one) => one.operations)).toEqual([10, 80, 10, 1]);
    expect(classes[3].from).toBeGreaterThan(800);
    expect(classes.reduce((sum, one) => sum + one.share, 0)).toBeCloseTo(1, 9);
    expect(histogramTitle([curve])).toBe('90 % of 101 read operations took 86.6 us to 121 us');
  });
});
