// Which target suits which use: a matrix of uses and targets, each place with its number, an icon and a word.

import { iops } from '../lib/numbers';
import type { Table, Use, UseTarget } from '../report';

/** How a target does in a use. */
export type Grade = 'best' | 'as-good' | 'worse' | 'absent';

/** A place of the matrix. */
export interface Place {
  grade: Grade;
  icon: string;
  /** `best`, `≈ as good`, `2.3x worse`. */
  word: string;
  /** The number with its unit; empty where nothing was measured. */
  value: string;
  /** How much of the best it has, 0 to 1. */
  share: number;
}

/** A target as a column: with the letter of its side where that is needed to tell columns apart. */
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
  const value = `${iops(target.value)} ${use.unit}`;
  const share = 1 / Math.max(1, target.times_worse);
  if (use.targets[0] === target) {
    return { grade: 'best', icon: '★', word: use.targets.length > 1 ? 'best' : 'the only one', value, share };
  }
  if (!target.is_sure) {
    return { grade: 'as-good', icon: '≈', word: 'as good', value, share };
  }
  return { grade: 'worse', icon: '▼', word: `${times(target.times_worse)}x worse`, value, share };
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
      column.wins += index === 0 ? 1 : 0;
    });
  }
  columns.sort((one, other) => other.wins - one.wins);
  for (const column of columns) {
    const alike = columns.filter((other) => other.target === column.target);
    column.label = alike.length > 1 ? `${column.side}: ${column.target}` : column.target;
  }
  const rows = uses.map((use) => ({
    use,
    places: columns.map((column) => {
      const target = use.targets.find((each) => each.side === column.side && each.target === column.target);
      return target ? place(use, target) : ABSENT;
    }),
  }));
  return { columns: columns.map(({ side, target, label }) => ({ side, target, label })), rows };
}

/** The matrix as a sentence: which target is best how often. */
export function usesTitle(uses: readonly Use[]): string {
  const { columns, rows } = useMatrix(uses);
  if (columns.length < 2) {
    return `What ${columns[0]?.label ?? 'nothing'} does in ${counted(uses.length, 'use')}`;
  }
  const wins = columns.map((column, index) => {
    const count = rows.filter((row) => row.places[index]!.grade === 'best').length;
    return { label: column.label, count };
  });
  const [first, ...others] = wins.filter((win) => win.count > 0);
  if (!first) {
    return 'No use has a best target';
  }
  const rest = others.map((win) => `${win.label} in ${win.count}`);
  const all = first.count === uses.length;
  const most = all ? `every one of ${counted(uses.length, 'use')}` : `${first.count} of ${counted(uses.length, 'use')}`;
  return [`${first.label} is best in ${uses.length === 1 ? 'the one use' : most}`, ...rest].join(', ');
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
      column('target', false, (row) => row.target.target),
      column('value', true, (row) => iops(row.target.value)),
      column('unit', false, (row) => row.use.unit),
      column('times worse than the best', true, (row) => times(row.target.times_worse)),
      column('verdict', false, (row) => row.at.word),
    ],
  };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
