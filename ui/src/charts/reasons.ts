// Reasons for the rates of a run, grouped by target. A reason that several workloads share is told once, as the text of
// `plimsoll explain` does.
import type { ExplainedCell, ExplainedRun } from '../report';
import { slipText } from './judged';

/** A reason for a rate, with the workloads that it is told of. */
export interface Reason {
  /** The first has it in these words; empty where the target has one workload alone. */
  workloads: string[];
  text: string;
  advice: string;
}

/** What is told of a target. */
export interface ReasonGroup {
  target: string;
  bought: string | null;
  reasons: Reason[];
  notes: string[];
}

/** A reason of more workloads than this is told once. */
const EACH_MAX = 2;

/** The groups of a run that have something to tell. */
export function reasons(run: ExplainedRun): ReasonGroup[] {
  const groups: ExplainedCell[][] = [];
  for (const cell of run.cells) {
    const group = groups.find(([first]) => first.target === cell.target && first.bought === cell.bought);
    if (group) group.push(cell);
    else groups.push([cell]);
  }
  return groups
    .map((cells) => ({
      target: cells[0].target,
      bought: cells[0].bought,
      reasons: cells.flatMap((cell) => ofCell(cell, cells)),
      notes: cells[0].notes ?? [],
    }))
    .filter((group) => group.reasons.length > 0);
}

function ofCell(cell: ExplainedCell, group: readonly ExplainedCell[]): Reason[] {
  const own = group.length > 1 ? [cell.workload] : [];
  const causes = cell.causes.flatMap((cause) => {
    const shared = group.filter((other) => other.causes.some((each) => each.code === cause.code));
    const isShared = shared.length > EACH_MAX;
    if (isShared && shared[0] !== cell) return [];
    const workloads = isShared ? shared.map((other) => other.workload) : own;
    return [{ workloads, text: cause.text, advice: cause.advice ?? '' }];
  });
  const sentences = [...cell.slips.map(slipText), ...cell.findings];
  return [...causes, ...sentences.map((text) => ({ workloads: own, text, advice: '' }))];
}
