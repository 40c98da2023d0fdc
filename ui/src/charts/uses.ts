// Which target suits which use: a matrix of uses and targets, each place with its number, an icon and a word.

import { elapsed, iops, orAbsent } from '../lib/numbers';
import type { Table, Use, UseTarget } from '../report';

/** How a target does in a use. */
export type Grade = 'best' | 'first' | 'as-good' | 'unsure' | 'worse' | 'cached' | 'absent';

/** A place of the matrix. */
export interface Place {
  grade: Grade;
  icon: string;
  /** `best`, `as good`, `2.3x worse`. What is not sure says so. */
  word: string;
  /** The number with its unit; empty where nothing was measured. */
  value: string;
  /** How much of the best it has, 0 to 1. */
  share: number;
}

/** A target as a column, with the letter of its side. */
export interface UseColumn {
  side: string;
  target: string;
  label: string;
}

/** The matrix. */
export interface UseMatrix {
  columns: UseColumn[];
  rows: { use: Use; places: Place[] }[];
}

const ABSENT: Place = { grade: 'absent', icon: '–', word: 'not measured', value: '', share: 0 };

/** The place of a target among those of a use. */
export function place(use: Use, target: UseTarget): Place {
  const value = valueText(use, target);
  // Without a ratio one of both did nothing.
  const share = target.times_worse === null ? 0 : 1 / Math.max(1, target.times_worse);
  if (target.is_cached) return { grade: 'cached', icon: '○', word: 'a cache answered', value, share: 0 };
  if (use.targets[0] === target) {
    if (use.targets.length === 1) return { grade: 'first', icon: '☆', word: 'the only one', value, share };
    if (!target.is_sure) return { grade: 'first', icon: '☆', word: 'first, not sure', value, share };
    return { grade: 'best', icon: '★', word: 'best', value, share };
  }
  const worse = target.times_worse === null ? 'did nothing' : `${times(target.times_worse)}x worse`;
  if (target.is_sure) return { grade: 'worse', icon: '▼', word: worse, value, share };
  if (target.is_as_good) return { grade: 'as-good', icon: '≈', word: 'as good', value, share };
  return { grade: 'unsure', icon: '?', word: `${worse}, not sure`, value, share };
}

/** A number with its unit. */
function valueText(use: Use, target: UseTarget): string {
  return use.unit === 's' ? elapsed(target.value * 1e9) : `${iops(target.value)} ${use.unit}`;
}

/** A ratio: `1.06`, `2.3`, `18.3`, `369`. */
export function times(ratio: number): string {
  if (ratio < 1.095) {
    return ratio.toFixed(2);
  }
  return ratio < 99.5 ? ratio.toFixed(1) : ratio.toFixed(0);
}

/** The matrix of uses and targets, the targets that are best most often first. */
export function useMatrix(uses: readonly Use[]): UseMatrix {
  const columns: (UseColumn & { wins: number })[] = [];
  const find = (target: UseTarget) =>
    columns.find((column) => column.side === target.side && column.target === target.target);
  for (const use of uses) {
    use.targets.forEach((target, index) => {
      let column = find(target);
      if (!column) {
        column = { side: target.side, target: target.target, label: target.target, wins: 0 };
        columns.push(column);
      }
      column.wins += index === 0 && target.is_sure ? 1 : 0;
    });
  }
  columns.sort((one, other) => other.wins - one.wins);
  // Sentences name sides by their letters.
  if (columns.length > 1) for (const column of columns) column.label = `${column.side}: ${column.target}`;
  const rows = uses.map((use) => ({
    use,
    places: columns.map((column) => {
      const target = use.targets.find((each) => each.side === column.side && each.target === column.target);
      return target ? place(use, target) : ABSENT;
    }),
  }));
  return { columns: columns.map(({ side, target, label }) => ({ side, target, label })), rows };
}

/** The matrix as a sentence: which target is best how often, as far as that is sure. */
export function usesTitle(uses: readonly Use[]): string {
  const { columns, rows } = useMatrix(uses);
  if (columns.length < 2) {
    return `What ${columns[0]?.label ?? 'nothing'} does in ${counted(uses.length, 'use')}`;
  }
  const wins = columns.map((column, index) => {
    const count = rows.filter((row) => row.places[index].grade === 'best').length;
    return { label: column.label, count };
  });
  const [first, ...others] = wins.filter((win) => win.count > 0);
  if (!first) {
    return `No order is sure in ${uses.length === 1 ? 'the one use' : `any of ${counted(uses.length, 'use')}`}`;
  }
  const rest = others.map((win) => `${win.label} in ${win.count}`);
  const every = ['', 'the one use', 'both uses'][uses.length] ?? `every one of ${counted(uses.length, 'use')}`;
  const most = first.count === uses.length ? every : `${first.count} of ${counted(uses.length, 'use')}`;
  const unsure = uses.length - wins.reduce((sum, win) => sum + win.count, 0);
  const sentence = [`${first.label} is best in ${most}`, ...rest].join(', ');
  return unsure > 0 ? `${sentence}; no order is sure in ${unsure}` : sentence;
}

/** All numbers. */
export function usesTable(uses: readonly Use[]): Table {
  const rows = uses.flatMap((use) => use.targets.map((target) => ({ use, target, at: place(use, target) })));
  const column = (head: string, is_number: boolean, value: (row: (typeof rows)[number]) => string) => ({
    head,
    is_number,
    values: rows.map(value),
  });
  return {
    title: 'Uses and targets',
    columns: [
      column('use', false, (row) => row.use.name),
      column('side', false, (row) => row.target.side),
      column('target', false, (row) => row.target.target),
      column('value', true, (row) => row.at.value),
      column('times worse than the best', true, (row) => orAbsent(row.target.times_worse, times)),
      column('verdict', false, (row) => row.at.word),
    ],
  };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
