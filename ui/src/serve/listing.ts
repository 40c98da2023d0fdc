// What the list says of each run, and how its parts are turned and chosen. Pure.
import { counted, wordIcon } from '../lib/words';
import type { ListedCell, ListedRun } from './api';

/** Runs on a page of the list. */
export const PAGE_LENGTH = 100;
/** Runs that the server makes one report of. */
export const REPORT_RUNS_MAX = 200;

function best(cells: ListedCell[], valueOf: (cell: ListedCell) => number | null): number | null {
  const values = cells.map(valueOf).filter((value) => value !== null);
  return values.length > 0 ? values.reduce((a, b) => Math.max(a, b)) : null;
}

/** Operations per second of all kinds together; null when nothing was measured. */
export function iopsOf(cell: ListedCell): number | null {
  const rates = [cell.read_iops, cell.write_iops, cell.all_iops].filter((rate) => rate !== null);
  return rates.length > 0 ? rates.reduce((a, b) => a + b) : null;
}

export const bestIops = (run: ListedRun) => best(run.cells, iopsOf);
export const bestBytes = (run: ListedRun) => best(run.cells, (cell) => cell.bytes_per_second);

export interface Word {
  icon: string;
  word: string;
  count: number;
}

/** The words about the numbers of a run, each with how often it was said, the most frequent first. */
export function wordsOf(run: ListedRun): Word[] {
  const counts = new Map<string, number>();
  for (const cell of run.cells) {
    const word = cell.verdict ?? 'no numbers';
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = [...counts].map(([word, count]) => ({ icon: wordIcon(word), word, count }));
  return words.sort((a, b) => b.count - a.count || a.word.localeCompare(b.word));
}

/** What a run is called in lists. */
export function nameOf(run: { name: string | null; cells: { workload: string }[]; id: string }): string {
  if (run.name) return run.name;
  const workloads = [...new Set(run.cells.map((cell) => cell.workload))];
  if (workloads.length === 0) return run.id;
  const others = workloads.length - 2;
  return workloads.slice(0, 2).join(', ') + (others > 0 ? ` and ${counted(others, 'other')}` : '');
}

export interface Paging {
  pages: number;
  /** Of all runs, from 1 on; 0 when there are none. */
  first: number;
  last: number;
}

export function pagingOf(total: number, page: number, length = PAGE_LENGTH): Paging {
  const pages = Math.max(1, Math.ceil(total / length));
  const first = (page - 1) * length + 1;
  return total === 0 || first > total
    ? { pages, first: 0, last: 0 }
    : { pages, first, last: Math.min(total, page * length) };
}

/** The text of the filter when the list is narrowed by `said`: as it was typed where that means the same, so that a blank
    stays after which one goes on. */
export function filterText(typed: string, said: string): string {
  return typed.trim() === said ? typed : said;
}

/** Tags as lines that can be edited. */
export function tagLines(tags: Record<string, string>): string {
  return Object.entries(tags).map(([key, value]) => `${key}=${value}`).join('\n');
}

/** Reads lines of `key=value`; a sentence where one is none. */
export function readTags(text: string): Record<string, string> | string {
  const tags = new Map<string, string>();
  for (const line of text.split('\n').map((each) => each.trim()).filter((each) => each !== '')) {
    const at = line.indexOf('=');
    if (at < 1) return `"${line}" is no tag: write it as key=value.`;
    const key = line.slice(0, at).trim();
    if (key === '') return `"${line}" has no key: write it as key=value.`;
    if (tags.has(key)) return `"${key}" stands there twice: a run has one value of each key.`;
    tags.set(key, line.slice(at + 1).trim());
  }
  // Not as an assignment: a key may be called __proto__.
  return Object.fromEntries(tags);
}

/** The chosen runs after one more or less. */
export function toggled(chosen: string[], id: string): string[] {
  return chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id];
}

/** The chosen runs after all of a page, or none of it. */
export function withPage(chosen: string[], page: string[], wanted: boolean): string[] {
  const others = chosen.filter((id) => !page.includes(id));
  return wanted ? [...others, ...page] : others;
}
