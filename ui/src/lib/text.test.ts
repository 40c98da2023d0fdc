// Tables sort by what their numbers mean, and leave the page as others read them.
import { describe, expect, it } from 'vitest';
import { anchor, compareCells, csv, placeOf, rowsOf, sortedRows, tableOf, withNames } from './text';

describe('tables', () => {
  const table = tableOf('t', ['name', 'IOPS'], [['a "b", c', '1,234'], ['d', '7']], [1]);

  it('become CSV', () => {
    expect(csv(table)).toBe('name,IOPS\r\n"a ""b"", c","1,234"\r\nd,7\r\n');
    expect(rowsOf(table)[1]).toEqual(['d', '7']);
    expect(table.columns.map((column) => column.is_number)).toEqual([false, true]);
  });

  it('say in each row what it is about, where rows are sorted or leave the page', () => {
    const once = tableOf('t', ['workload', 'IOPS'], [['mixed', '70'], ['', '30'], ['alone', '50']], [1]);
    const names = (column: number | null) => sortedRows(withNames(once), column, false).map((row) => row.values[0]);
    expect(names(null)).toEqual(['mixed', 'mixed', 'alone']);
    expect(names(1)).toEqual(['mixed', 'alone', 'mixed']);
    expect(names(0)).toEqual(['alone', 'mixed', 'mixed']);
    expect(csv(withNames(once))).toContain('mixed,30');
    expect(sortedRows(once, null, false).map((row) => row.values[0])).toEqual(['mixed', '', 'alone']);
  });

  it('stay sorted by what was chosen when they are told again with other columns', () => {
    const heads = (...names: string[]) => tableOf('t', names, []);
    const chosen = { head: 'p99', index: 1 };
    expect(placeOf(chosen, heads('name', 'p99'))).toBe(1);
    expect(placeOf(chosen, heads('name', '+-', 'p99'))).toBe(2);
    expect(placeOf(chosen, heads('name', '+-'))).toBeNull();
    expect(placeOf({ head: 'IOPS', index: 2 }, heads('name', 'IOPS', 'IOPS'))).toBe(2);
    expect(placeOf(null, heads('name'))).toBeNull();
  });

  it('hold no formula of a spreadsheet, and numbers stay numbers', () => {
    const shown = (text: string) => csv(tableOf('t', [text], []));
    for (const text of ['=1+1', '@SUM(1)', '+cmd', "-1+cmd|' /C calc'!A0", '\t=1', '\r=1']) {
      expect(shown(text).replaceAll('"', '')).toBe(`'${text}\r\n`);
    }
    for (const text of ['-', '+-', '-3.0 %', '+17', '-1.5k', '-16.4 % [-18.2, -14.6]', 'a=b']) {
      expect(shown(text).replaceAll('"', '')).toBe(`${text}\r\n`);
    }
  });

  it('sort by magnitude across units', () => {
    expect(['1.23 ms', '98.0 us', '2.50 s', '-', '≥3.00 ms'].sort(compareCells))
      .toEqual(['98.0 us', '1.23 ms', '≥3.00 ms', '2.50 s', '-']);
    expect(['6h 00m', '61.5 ms', '2m 05s', '42 s', '10m 00s'].sort(compareCells))
      .toEqual(['61.5 ms', '42 s', '2m 05s', '10m 00s', '6h 00m']);
    const windows = ['2m 05s to 6m 00s', '1h 00m to 1h 02m', '42 s to 1m 00s'];
    expect(windows.sort(compareCells)).toEqual(['42 s to 1m 00s', '2m 05s to 6m 00s', '1h 00m to 1h 02m']);
    expect(['1:02:03', '12:30', '0:07', '-', '12:03'].sort(compareCells))
      .toEqual(['0:07', '12:03', '12:30', '1:02:03', '-']);
    const moments = ['2025-10-08 09:30 UTC', '-', '2025-09-30 10:00 UTC', '2025-10-08 07:15 UTC', '2024-12-31'];
    expect(moments.sort(compareCells)).toEqual(
      ['2024-12-31', '2025-09-30 10:00 UTC', '2025-10-08 07:15 UTC', '2025-10-08 09:30 UTC', '-'],
    );
    expect(['12.3k', '1,234', '999', '1.00M'].sort(compareCells)).toEqual(['999', '1,234', '12.3k', '1.00M']);
    expect(['beta', 'Alpha', '3'].sort(compareCells)).toEqual(['3', 'Alpha', 'beta']);
  });

  it('have anchors that a link can hold', () => {
    expect(anchor('4k randread, /dev/sdb')).toBe('4k-randread-dev-sdb');
    expect(anchor('—')).toBe('chart');
  });
});
