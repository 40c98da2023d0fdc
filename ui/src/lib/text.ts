// Text that leaves the page or enters a tooltip: as rows of CSV, and as elements that cannot be read as markup.
import type { Table, TableColumn } from '../report';

/** A table from rows of finished strings. `numbers` are the columns whose values stand on the right. */
export function tableOf(title: string, heads: string[], rows: string[][], numbers: number[] = []): Table {
  const columns: TableColumn[] = heads.map((head, index) => ({
    head,
    is_number: numbers.includes(index),
    values: rows.map((row) => row[index] ?? ''),
  }));
  return { title, columns };
}

/** The rows of a table. */
export function rowsOf(table: Table): string[][] {
  const length = Math.max(0, ...table.columns.map((column) => column.values.length));
  return Array.from({ length }, (_, row) => table.columns.map((column) => column.values[row] ?? ''));
}

/** A table that has the name of what several rows are about in the first of them, with the name in all of them: so they
    say it wherever they stand. */
export function withNames(table: Table): Table {
  let name = '';
  const whole = (values: string[]) => values.map((value) => (name = value || name));
  const columns = table.columns.map((column, index) =>
    index === 0 ? { ...column, values: whole(column.values) } : column,
  );
  return { ...table, columns };
}

/** A table as comma-separated values, RFC 4180. */
export function csv(table: Table): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = [table.columns.map((column) => column.head), ...rowsOf(table)];
  return rows.map((row) => `${row.map((text) => quoted(inert(text))).join(',')}\r\n`).join('');
}

/** A number with its sign, and with a unit or an interval: `-3.0 %`, `+20 % [+17, +22]`. */
const NUMBER = /^[+-]\d[\d,]*(\.\d+)?(e[+-]?\d+)?[kMG]?( [A-Za-z%/]+)*( \[[-+\d.,? %A-Za-z]*\])?$/;

/** Text that no spreadsheet takes for a formula: what begins as one gets an apostrophe, which they hide. */
function inert(text: string): string {
  const isFormula = /^[=@\t\r]/.test(text) || (/^[+-].*[^+-]/s.test(text) && !NUMBER.test(text));
  return isFormula ? `'${text}` : text;
}

const SCALES: Record<string, number> = {
  k: 1e3, M: 1e6, G: 1e9, ns: 1, us: 1e3, ms: 1e6, s: 1e9,
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, EiB: 2 ** 60,
};

/** Lengths of time and times since the start, `1h 02m` and `1:02:03`, with their hours, minutes and seconds. */
const CLOCKS = [/^(?:(\d+)h )?(\d+)m(?: (\d+)s)?(?= to |$)/, /^(?:(\d+):(?=\d+:))?(\d+):(\d\d)$/];

/** What a cell of a table is sorted by: its number when it has one, and else its text. */
export function sortKey(text: string): number | string {
  // Moments sort as the texts that they are, because years come first in them.
  if (/^\d{4}-\d\d-\d\d\b/.test(text.trim())) return text.trim().toLowerCase();
  // Of a stretch, its start.
  const clock = CLOCKS.map((form) => form.exec(text.trim())).find((found) => found);
  if (clock) return (Number(clock[1] ?? 0) * 3600 + Number(clock[2]) * 60 + Number(clock[3] ?? 0)) * 1e9;
  const match = /^[≥<>~+]?\s*(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*([A-Za-z]*)/.exec(text.trim());
  if (!match) return text.trim().toLowerCase();
  return Number(match[1].replaceAll(',', '')) * (SCALES[match[2]] ?? 1);
}

/** Compares two cells: numbers before texts, and what was not measured last. */
export function compareCells(one: string, other: string): number {
  const rank = (text: string) => (text === '-' || text === '' ? 2 : typeof sortKey(text) === 'number' ? 0 : 1);
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  const [a, b] = [sortKey(one), sortKey(other)];
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b));
}

/** A column as it was chosen: heads may be the same, and places change where a table is told again. */
export interface ChosenColumn {
  head: string;
  index: number;
}

/** Where a column is now: at its place where that has its head, else at the first of that head; null where none has. */
export function placeOf(chosen: ChosenColumn | null, table: Table): number | null {
  if (!chosen) return null;
  if (table.columns[chosen.index]?.head === chosen.head) return chosen.index;
  const index = table.columns.findIndex((column) => column.head === chosen.head);
  return index < 0 ? null : index;
}

/** The rows of a table with their places, sorted by a column, or as they are without one. */
export function sortedRows(
  table: Table, column: number | null, isDescending: boolean,
): { values: string[]; index: number }[] {
  const rows = rowsOf(table).map((values, index) => ({ values, index }));
  if (column === null) return rows;
  const sign = isDescending ? -1 : 1;
  return rows.sort((a, b) => sign * compareCells(a.values[column], b.values[column]));
}

/** What a tooltip says: a head in bold, and lines. Made of text nodes, so that names stay names. */
export function tip(head: string, lines: string[]): HTMLElement {
  const element = document.createElement('div');
  const strong = document.createElement('strong');
  strong.textContent = head;
  element.append(strong);
  for (const line of lines) {
    const row = document.createElement('div');
    row.textContent = line;
    element.append(row);
  }
  return element;
}

/** A word that can be part of an anchor. */
export function anchor(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'chart';
}
