// Which colour a target or a side of a comparison has, on all pages the same.
import type { Comparison, Report, Side } from '../report';

export interface ColourIndexes {
  side(letter: string): number;
  /** The colour of a target; in a run that is a side of its own that of the side. */
  target(target: string, run?: string): number;
}

/** All sides that any comparison has, in the order of their letters. */
export function sidesOf(comparisons: Comparison[]): Side[] {
  return comparisons[0]?.sides ?? [];
}

export function colourIndexes(report: Report): ColourIndexes {
  const sides = sidesOf(report.comparisons);
  const byLetter = new Map(sides.map((side, index) => [side.letter, index]));
  const byRun = new Map<string, number>();
  const byTarget = new Map<string, number>();
  sides.forEach((side, index) => {
    for (const target of side.targets) {
      byRun.set(`${side.run} ${target}`, index);
      if (!byTarget.has(target)) byTarget.set(target, index);
    }
  });
  let next = sides.length;
  for (const target of report.runs.flatMap((run) => run.targets)) {
    if (!byTarget.has(target)) byTarget.set(target, next++);
  }
  return {
    side: (letter) => byLetter.get(letter) ?? 0,
    target: (target, run) => byRun.get(`${run} ${target}`) ?? byTarget.get(target) ?? 0,
  };
}
