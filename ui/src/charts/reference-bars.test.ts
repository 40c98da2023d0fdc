// Bars say by their length and by their label what share of the reference a side has.
import { describe, expect, it } from 'vitest';
import { groupsOf, referencesOf } from '../lib/comparing';
import { SERIES_COUNT, TOKEN_NAMES, type ChartContext, type Tokens } from '../lib/theme';
import type { Compared, Comparison, MetricPair, Side } from '../report';
import { barGroups, barLabel, barsOption, barsTitle, BREAK_PERCENT, percentLabel } from './reference-bars';

const context: ChartContext = {
  tokens: Object.fromEntries(TOKEN_NAMES.map((name) => [name, '#000000'])) as Tokens,
  palette: Array.from({ length: SERIES_COUNT }, (_, index) => `#00000${index}`),
  narrow: false,
  print: false,
  width: 900,
};

function metric(operation: string, name: MetricPair['metric'], reference: number, value: number): MetricPair {
  return { operation, metric: name, reference, value, compared: null, has_stopped: false };
}

/** The published comparison: reads, writes and both of a volume beside a disk, and imports of two others. */
function published(): Comparison {
  const cell = (workload: string, metrics: MetricPair[]) => ({
    target: null, workload, reference_verdict: null, verdict: null, reference_errors: 0, errors: 0, differs_in: [],
    sentence: '', metrics,
  });
  const pair = (reference: string, side: string, cells: ReturnType<typeof cell>[]) => ({
    reference, side, in_one_run: false, confounded: [], cells, only_in_reference: [], only_in_side: [],
  });
  return {
    schema: '', reference: 'A', margin: 0.05, sides: [], expectations: [],
    pairs: [
      pair('A', 'B', [
        cell('reads', [metric('read', 'iops', 55286.867, 76495.054)]),
        cell('writes', [metric('write', 'iops', 7664.0626, 1838.1245)]),
        cell('both', [metric('read', 'iops', 7664.06, 121.8), metric('write', 'iops', 7650, 121.5)]),
      ]),
      pair('C', 'D', [cell('import', [metric('all', 'elapsed_ns', 1e13, 1.01e13)])]),
    ],
  };
}

describe('reference bars', () => {
  const groups = barGroups(groupsOf(published()), ['A', 'B', 'C', 'D'], 'A');

  it('are labelled with share and value', () => {
    const first = groups.map((group) => barLabel(group.bars[0]));
    expect(first.slice(0, 2)).toEqual(['100 % · 55.3k IOPS', '100 % · 7,664 IOPS']);
    expect(groups.map((group) => barLabel(group.bars[1]))).toEqual([
      '138.4 % · 76.5k IOPS', '24.0 % · 1,838 IOPS', '1.59 % · 122 IOPS', '1.59 % · 122 IOPS', '101.0 % · 2h 48m',
    ]);
    expect(groups.map((group) => group.label)).toEqual([
      'reads', 'writes', 'both · read', 'both · write',
      'import · time · less is better · A did not measure it: C is 100 %',
    ]);
    expect(barsTitle(groups, 'A')).toBe('Where A has 100 %, B has from 1.59 % to 138.4 %, by load');
  });

  it('have the names of arrays', () => {
    const named = barGroups(groupsOf(published()), ['A', 'B'], 'A', new Map([['A', 'none-1-ext4'], ['B', 'md-4-ext4']]));
    expect(barLabel(named[0].bars[1])).toBe('138.4 % · 76.5k IOPS · md-4-ext4');
    expect(barsTitle(named, 'A')).toBe('Where A none-1-ext4 has 100 %, B md-4-ext4 has from 1.59 % to 138.4 %, by load');
  });

  it('leave out sides whose plans differ in what matters', () => {
    const comparison = published();
    comparison.pairs[0].cells[0].differs_in = [{ name: 'block size', reference: '4KiB', value: '8KiB' }];
    expect(barGroups(groupsOf(comparison), ['A', 'B'], 'A').map((group) => group.label)[0]).toBe('writes');
  });

  it('are hollow and say so where a cache answered', () => {
    const comparison = published();
    comparison.pairs[0].cells[0].verdict = 'cached';
    comparison.pairs[0].cells[2].from_memory = [true, false];
    const [reads, writes, both] = barGroups(groupsOf(comparison), ['A', 'B'], 'A');
    expect(both.bars.map((bar) => bar.isCached)).toEqual([true, false]);
    expect(reads.bars.map(barLabel)).toEqual(['100 % · 55.3k IOPS', '138.4 % · 76.5k IOPS · cache']);
    expect(writes.bars.some((bar) => bar.isCached)).toBe(false);
    const [drawn] = barsOption([reads], context, '', false, () => 0).series as { data: { itemStyle?: object }[] }[];
    const dashed = drawn.data.map((one) => one.itemStyle !== undefined && 'borderType' in one.itemStyle);
    expect(dashed).toEqual([false, false, true]);
  });

  it('are as long as the share, from zero on', () => {
    const option = barsOption(groups, context, '', false, () => 0);
    const [bars] = option.series as { data: { value: number | null }[] }[];
    const lengths = bars.data.map((one) => one.value).filter((value) => value !== null);
    expect(lengths[1]).toBeCloseTo(138.36, 1);
    expect(lengths[3]).toBeCloseTo(23.98, 1);
    expect(option.xAxis).toMatchObject({ type: 'value', min: 0 });
  });

  it('can be shares of any side where others told the numbers, and else of those that were compared', () => {
    const told = { ...published(), sides: ['A', 'B', 'C'].map((letter) => ({ letter }) as Side) };
    expect(referencesOf([told])).toEqual(['A', 'B', 'C']);
    const compared = structuredClone(told);
    compared.pairs[0].cells[0].metrics[0].compared = { ratio: 1.4, low: 1.3, high: 1.5 } as Compared;
    expect(referencesOf([compared])).toEqual(['A']);
  });

  it('are broken when they are too long', () => {
    const turned = barGroups(groupsOf(published()), ['A', 'B'], 'B');
    const values = (isLog: boolean) => {
      const option = barsOption(turned, context, '', isLog, () => 0);
      return (option.series as { data: { value: number | null }[] }[])[0].data.map((one) => one.value ?? 0);
    };
    expect(Math.max(...values(false))).toBe(BREAK_PERCENT);
    expect(Math.max(...values(true))).toBeGreaterThan(6000);
    expect(barsOption(turned, context, '', true, () => 0).xAxis).toMatchObject({ type: 'log', min: 10 });
  });

  it('begin at the axis on a logarithmic one, also below 1 %', () => {
    const comparison = published();
    comparison.pairs[0].cells[0].metrics = [metric('read', 'iops', 55_000, 110)];
    const tiny = barGroups(groupsOf(comparison), ['A', 'B'], 'A');
    expect(barsOption(tiny, context, '', true, () => 0).xAxis).toMatchObject({ type: 'log', min: 0.1, startValue: 0.1 });
    expect(barsOption(tiny, context, '', false, () => 0).xAxis).not.toHaveProperty('startValue');
  });

  it('have room for their labels', () => {
    for (const width of [330, 900]) {
      const { xAxis } = barsOption(groups, { ...context, width }, '', false, () => 0);
      expect((xAxis.max - 138.4) / xAxis.max * (width - 42)).toBeGreaterThan(100);
    }
  });

  it('write four digits at most', () => {
    expect([100, 138.36, 23.983, 1.589, 0.24, 6290.4, 0, 999.96, 100.04].map(percentLabel)).toEqual(
      ['100 %', '138.4 %', '24.0 %', '1.59 %', '0.24 %', '6,290 %', '0 %', '1,000 %', '100.0 %'],
    );
  });
});
