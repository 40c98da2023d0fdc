// Tests of rates beside what was bought: verdicts, counts, bars, bands and reasons.
import { describe, expect, it } from 'vitest';

import type { ExplainedCell, ExplainedRun, Judged2 as Judged } from '../report';
import { barLabel, bulletHeight, bulletOption, CUT, marks } from './bullet';
import { bulletTable, byUnit, counts, countSentence, judgedRows, rate, rowLabel, slipText } from './judged';
import { reasons } from './reasons';
import { context } from './testing';

const judged = (measured: number, reached: Judged['reached'], more: Partial<Judged> = {}): Judged => ({
  operation: 'write',
  unit: 'iops',
  measured,
  lasting: 120,
  interval: null,
  burst: null,
  burst_seconds: null,
  refill_seconds: null,
  mean_from_full: null,
  part: 'disk',
  tolerance: { under: 0.05, over: 0.05 },
  standing: reached,
  expected: more.mean_from_full ?? more.lasting ?? 120,
  reached,
  ...more,
});
const cell = (workload: string, rates: Judged[], more: Partial<ExplainedCell> = {}): ExplainedCell => ({
  target: '/mnt/p2',
  workload,
  kind: 'blocks',
  bought: 'P2',
  judged: rates,
  causes: [],
  slips: [],
  findings: [],
  ...more,
});
const BURST = { burst: 3500, mean_from_full: 1810 };
const run: ExplainedRun = {
  id: 'run',
  name: '000.md',
  cells: [
    cell('lasts', [judged(121.6, 'within')]),
    cell('hour', [judged(1838, 'within', { ...BURST, standing: 'burst-only' })]),
    cell('cached', [judged(76_495, 'impossible', BURST)]),
    cell('large', [judged(30e6, 'under', { unit: 'bytes_per_second', lasting: 60e6 })]),
  ],
};
const rows = judgedRows(run);

describe('rates beside what was bought', () => {
  it('are expected to be what credits give where they were used', () => {
    expect(rows[1].share).toBeCloseTo(1.0155, 4);
  });

  it('have their interval as a whisker, which is cut as bars are', () => {
    const [sure] = judgedRows({ ...run, cells: [cell('sure', [judged(120, 'within', { interval: [108, 600] })])] });
    expect(marks(sure).interval?.map(Math.round)).toEqual([90, 212]);
    expect(marks(rows[0]).interval).toBeNull();
    const column = bulletTable('', [sure, rows[0]]).columns.find((one) => one.head === '95 % interval');
    expect(column?.values).toEqual(['108 to 600', '-']);
  });

  it('are grouped by unit and counted by verdict', () => {
    const groups = byUnit(rows).map((group) => [group.unit, group.rows.length]);
    expect(groups).toEqual([['iops', 3], ['bytes_per_second', 1]]);
    expect(counts(rows).map((each) => each.count)).toEqual([2, 0, 1, 1]);
    expect(countSentence(rows)).toBe(
      '2 of 4 rates are within what was bought; one is under, one is more than is possible; one of all only in a burst',
    );
  });

  it('have the sentence of the seed', () => {
    const reached: Judged['reached'][] = [...Array(11).fill('within'), 'over', 'over', 'over', 'under'];
    const all = judgedRows({ ...run, cells: reached.map((word) => cell('x', [judged(1, word)])) });
    const text = '11 of 15 rates are within what was bought; three are over, one is under';
    expect(countSentence(all)).toBe(text);
    expect(countSentence(all.slice(0, 11))).toBe('All 11 rates are within what was bought');
    expect(countSentence(all.slice(14))).toBe('The one rate is under');
    expect(countSentence([])).toBe('Nothing was judged');
  });

  it('have bars and bands as shares of what was expected', () => {
    expect(marks(rows[0])).toMatchObject({ lasting: 100, burst: null, isCut: false });
    expect(marks(rows[0]).measured).toBeCloseTo(101.33, 2);
    expect(marks(rows[1]).lasting).toBeCloseTo(6.63, 2);
    expect(marks(rows[1]).burst).toBeCloseTo(193.4, 1);
    expect(marks(rows[2]).isCut).toBe(true);
    expect(marks(rows[2]).measured).toBeGreaterThan(CUT);
  });

  it('are drawn with a tick at 100 %, and room for texts beyond', () => {
    const option = bulletOption(rows.slice(0, 3), context(), '');
    const [bought, measured, ticks] = option.series;
    expect(measured.data).toEqual(rows.slice(0, 3).map((row) => marks(row).measured));
    expect(bought.data).toHaveLength(3);
    expect(ticks.data).toEqual([[0, 100], [1, 100], [2, 100]]);
    expect(option.xAxis.max).toBeGreaterThan(marks(rows[2]).measured);
    expect(option.yAxis[1].data).toEqual(['✓ within', '✓ within, in a burst', '⊘ impossible']);
    expect(bulletHeight(rows, true)).toBeGreaterThan(bulletHeight(rows, false));
  });

  it('have labels with the verdict where there is no column for it', () => {
    expect(barLabel(rows[1], false)).toBe('102 % · 1,838 IOPS');
    expect(barLabel(rows[3], true)).toBe('▼ 50 % under');
    expect(rowLabel(rows[0], rows)).toBe('lasts · write');
    const other = judgedRows({ ...run, cells: [cell('lasts', [judged(1, 'under')], { target: '/mnt/p40' })] });
    expect(rowLabel(rows[0], [...rows, ...other])).toBe('/mnt/p2 · lasts · write');
  });

  it('have all numbers in their table', () => {
    const { columns } = bulletTable('rates', rows);
    const at = (head: string) => columns.find((column) => column.head === head)?.values;
    expect(at('expected')).toEqual(['120', '1,810', '1,810', '60']);
    expect(at('verdict')).toEqual(['within', 'within, in a burst', 'impossible', 'under']);
    expect(at('tolerance')?.[0]).toBe('-5 % +5 %');
    expect([rate('bytes_per_second', 207_618_048), rate('iops', 121.64)]).toEqual(['207.6', '121.6']);
  });
});

describe('reasons', () => {
  it('that several workloads share are told once', () => {
    const causes = [{ code: 'size', text: 'P2 delivers 120 IOPS', advice: 'P10 has 500' }];
    const cells = ['a', 'b', 'c'].map((name) => cell(name, [], { causes }));
    const [group] = reasons({ ...run, cells });
    expect(group.reasons).toEqual([{ workloads: ['a', 'b', 'c'], text: causes[0].text, advice: 'P10 has 500' }]);
    const [pair] = reasons({ ...run, cells: cells.slice(0, 2) });
    expect(pair.reasons.map((each) => each.workloads)).toEqual([['a'], ['b']]);
    expect(reasons(run)).toEqual([]);
  });

  it('tell slips of units as sentences', () => {
    const slip = {
      lines: [34, 349],
      stated: '59.365',
      operation: 'read',
      size: 3261,
      unit: 'GB',
      taken_for: 'GiB',
      iops: 55_286.87,
      iops_by_slip: 59_364.66,
    };
    expect(slipText(slip)).toBe(
      'lines 34, 349 state 59.365 IOPS: that would follow from 3261 GB divided as if they were GiB (59,365); ' +
        'by the report it is 55,287, so the text is 7.4 % too high',
    );
  });
});
