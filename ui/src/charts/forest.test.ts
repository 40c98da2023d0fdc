// A ratio says more than there is only when its interval and all comparisons together permit it.
import { describe, expect, it } from 'vitest';
import { judge } from '../lib/comparing';
import { SERIES_COUNT, TOKEN_NAMES, type ChartContext, type Tokens } from '../lib/theme';
import type { Compared, MetricPair, Pair } from '../report';
import { excludesOne, figures, forestOption, forestRows, forestTitle } from './forest';

function compared(ratio: number, low: number, high: number, conclusion: Compared['conclusion']): Compared {
  return {
    ratio, low, high, p_value: 0.01, detectable: 0.1, error: 0.1, degrees: 5, method: 'paired-passes', values: [6, 6],
    conclusion, different: true, ranks: null,
  };
}

function number(metric: MetricPair['metric'], said: Compared | null): MetricPair {
  return { operation: 'read', metric, reference: 1, value: 1, compared: said, has_stopped: false };
}

const pair: Pair = {
  reference: 'A', side: 'B', in_one_run: true, confounded: [], only_in_reference: [], only_in_side: [],
  cells: [{
    target: null, workload: 'reads', reference_verdict: null, verdict: null, reference_errors: 0, errors: 0,
    differs_in: [], sentence: '',
    metrics: [
      number('iops', compared(1.31, 1.11, 1.54, 'higher')),
      number('bytes_per_second', compared(1.31, 1.11, 1.54, 'higher')),
      number('latency_p99_ns', compared(2, 1.5, 3, 'higher')),
      number('latency_p50_ns', null),
    ],
  }],
};

describe('forest plots', () => {
  const rows = forestRows(pair);

  it('have a row for each number that says something of its own', () => {
    expect(rows.map((row) => row.label)).toEqual(['reads · read IOPS', 'reads · read p99']);
    expect(rows.map(figures)).toEqual(['1.31 [1.11, 1.54]', '2.00 [1.50, 3.00]']);
    expect(forestTitle(pair, rows)).toBe('B beside A: better in 1 and worse in 1 of 2 numbers');
    expect(forestTitle(pair, rows.slice(0, 1))).toBe('B beside A: better in 1 of 1 number');
  });

  it('are filled where equality is excluded', () => {
    expect(excludesOne(compared(1.1, 0.9, 1.3, 'no-difference'))).toBe(false);
    expect(excludesOne(compared(0.8, 0.7, 0.9, 'lower'))).toBe(true);
  });

  it('hold every interval, and one', () => {
    const tokens = Object.fromEntries(TOKEN_NAMES.map((name) => [name, '#000000'])) as Tokens;
    const palette = Array.from({ length: SERIES_COUNT }, () => '#000000');
    const context: ChartContext = { tokens, palette, narrow: false, print: false, width: 900 };
    const { xAxis } = forestOption(pair, rows, context, '', 1);
    expect(xAxis.min).toBeLessThan(1);
    expect(xAxis.max).toBeGreaterThanOrEqual(3);
    expect(xAxis.axisTick.customValues).toContain(1);
  });
});

describe('judgements', () => {
  it('know that less of a duration is better', () => {
    expect(judge('iops', compared(2, 1.5, 3, 'higher')).word).toBe('better');
    expect(judge('latency_p99_ns', compared(2, 1.5, 3, 'higher')).word).toBe('worse');
    expect(judge('elapsed_ns', compared(0.5, 0.4, 0.6, 'slightly-lower')).icon).toBe('▲');
  });

  it('claim nothing that may be chance', () => {
    expect(judge('iops', { ...compared(2, 1.5, 3, 'higher'), different: false }).word).toBe('may be chance');
    expect(judge('iops', compared(1, 0.99, 1.01, 'equal')).icon).toBe('≈');
    expect(judge('iops', compared(1, 0.5, 2, 'no-difference')).icon).toBe('?');
  });
});
