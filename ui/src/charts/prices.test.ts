// Tests of what numbers cost.
import { describe, expect, it } from 'vitest';

import type { Group, Metric } from '../lib/comparing';
import type { Price, Side, TargetPrice } from '../report';
import { isFrontier, money, priced, pricedGroups, pricedMetrics, pricesOption, pricesTable, pricesTitle } from './prices';
import { context } from './testing';

function side(letter: string, ...targets: string[]): Side {
  return {
    letter, run: letter, name: null, started: '2026-10-01T00:00:00Z', elapsed_ns: 1, hostname: null, targets,
    description: targets.join(', '),
  };
}

function price(per_month: number, currency = 'EUR'): Price {
  return { per_month, currency, date: '2026-10-01', row: 'P30' };
}

function group(values: Record<string, Partial<Record<Metric, number>>>, target: string | null = null): Group {
  const of = (metrics: Partial<Record<Metric, number>>) => new Map(Object.entries(metrics) as [Metric, number][]);
  const entries = Object.entries(values).map(([letter, metrics]) => [letter, of(metrics)] as const);
  return {
    key: 'key', label: 'randread', target, operation: 'read', values: new Map(entries), compared: new Map(),
    substitute: 'A', cached: new Set(), rateUnit: 'IOPS', bounds: new Map(),
  };
}

const SIDES = [side('A', 'p30'), side('B', 'p10'), side('C', 'p20')];
const PRICES: TargetPrice[] = [
  { side: 'A', target: 'p30', price: price(100), unknown: null },
  { side: 'B', target: 'p10', price: price(20), unknown: null },
  { side: 'C', target: 'p20', price: price(120), unknown: null },
];
const LOAD = group({
  A: { iops: 5000, latency_p99_ns: 2e6 }, B: { iops: 500, latency_p99_ns: 9e6 }, C: { iops: 4000, latency_p99_ns: 3e6 },
});

describe('prices', () => {
  it('say which side costs least for each of a rate', () => {
    const all = priced(LOAD, SIDES, PRICES, 'iops');
    expect(all.map((one) => one.side.letter)).toEqual(['A', 'B', 'C']);
    expect(pricesTitle('randread', all, 'iops')).toBe(
      'randread: A costs least, 0.02 EUR a month for each operation a second; C 1.50 times as much',
    );
    const near = [all[0], { ...all[1], value: 1000 * 1.01 }];
    expect(pricesTitle('randread', near, 'iops')).toContain('B and A cost about 0.0198 EUR a month');
  });

  it('say what shorter latencies cost, and when no price buys them', () => {
    const all = priced(LOAD, SIDES, PRICES, 'latency_p99_ns');
    expect(pricesTitle('randread', all, 'latency_p99_ns')).toBe(
      'randread, p99: 9.00 ms for 20 EUR a month (B), 2.00 ms for 100 EUR a month (A)',
    );
    const quick = all.map((one) => (one.side.letter === 'B' ? { ...one, value: 1e6 } : one));
    expect(pricesTitle('randread', quick, 'latency_p99_ns')).toBe(
      'randread, p99: no price buys less than 1.00 ms for 20 EUR a month (B)',
    );
  });

  it('leave out what another is both cheaper and better than', () => {
    for (const metric of ['iops', 'latency_p99_ns'] as const) {
      const all = priced(LOAD, SIDES, PRICES, metric);
      expect(all.map((one) => isFrontier(one, all, metric))).toEqual([true, true, false]);
    }
    const [one] = priced(LOAD, SIDES, PRICES, 'iops');
    expect(isFrontier(one, [one, { ...one }], 'iops')).toBe(true);
    expect(isFrontier(one, [one, { ...one, price: price(99) }], 'iops')).toBe(false);
  });

  it('are those of the load\'s own target, or the sum of all targets of a side', () => {
    const sides = [side('A', 'x', 'y'), side('B', 'x', 'y')];
    const prices = ['A', 'B'].flatMap((letter): TargetPrice[] => [
      { side: letter, target: 'x', price: price(10), unknown: null },
      { side: letter, target: 'y', price: letter === 'A' ? price(5) : null, unknown: letter === 'A' ? null : 'why' },
    ]);
    const values = { A: { iops: 10 }, B: { iops: 20 } };
    const cost = (target: string | null) =>
      priced(group(values, target), sides, prices, 'iops').map((one) => one.price.per_month);
    expect([cost('x'), cost('y'), cost(null)]).toEqual([[10, 10], [5], [15]]);
  });

  it('are no prices of what a cache answered', () => {
    const load = { ...LOAD, cached: new Set(['A']) };
    expect(priced(load, SIDES, PRICES, 'iops').map((one) => one.side.letter)).toEqual(['B', 'C']);
    expect(pricesTable('what', [load], SIDES, PRICES).columns[1].values).toEqual(['B', 'C']);
  });

  it('of another currency are not compared', () => {
    const dollars = PRICES.map((one) => (one.side === 'C' ? { ...one, price: price(1, 'USD') } : one));
    expect(priced(LOAD, SIDES, dollars, 'iops').map((one) => one.side.letter)).toEqual(['A', 'B']);
    const twice = dollars.filter((one) => one.side !== 'B');
    expect(pricedGroups([LOAD], SIDES, twice)).toEqual([]);
    expect(pricedMetrics(LOAD, SIDES, PRICES)).toEqual(['iops', 'latency_p99_ns']);
  });

  it('are drawn from zero, hollow where they are beaten', () => {
    const all = priced(LOAD, SIDES, PRICES, 'iops');
    const option = pricesOption(all, 'iops', context(), 'what', (letter) => 'ABC'.indexOf(letter));
    expect([option.xAxis.min, option.yAxis]).toMatchObject([0, { min: 0, name: 'IOPS' }]);
    expect(option.series.map((one) => one.itemStyle.color)).toEqual(['series-1', 'series-2', 'surface']);
    expect(option.series[2].itemStyle.borderColor).toBe('series-3');
  });

  it('have a table with every number that a price is divided by', () => {
    const mbs = group({ A: { bytes_per_second: 200e6 }, B: { bytes_per_second: 25e6 } });
    const table = pricesTable('what', [LOAD, mbs], SIDES, PRICES);
    expect(table.columns.map((column) => column.head)).toEqual([
      'load', 'side', 'a month', 'IOPS', 'a month for each of IOPS', 'MB/s', 'a month for each of MB/s', 'p99',
      'price of', 'of',
    ]);
    expect(table.columns.map((column) => column.values[0])).toEqual([
      'randread', 'A', '100 EUR', '5,000', '0.02 EUR', '-', '-', '2.00 ms', 'P30', '2026-10-01',
    ]);
    expect(table.columns[6].values[3]).toBe('0.5 EUR');
  });

  it('have three figures and the currency', () => {
    expect([money(0.027034, 'USD'), money(135.17, 'EUR'), money(1608, 'USD')]).toEqual([
      '0.027 USD', '135 EUR', '1,608 USD',
    ]);
  });
});
