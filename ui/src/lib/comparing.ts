// What a comparison says, ordered by what was measured: for each load the numbers of all sides.
import type { CellPair, CellView, Compared, Comparison, Explanation, MetricPair, Report, Side } from '../report';
import { elapsed, iops, latency, throughput } from './numbers';

export type Metric = MetricPair['metric'];

export const METRIC_HEADS: Record<Metric, string> = {
  iops: 'IOPS',
  bytes_per_second: 'MB/s',
  latency_p50_ns: 'p50',
  latency_p99_ns: 'p99',
  latency_p99_9_ns: 'p99.9',
  latency_mean_ns: 'mean',
  elapsed_ns: 'time',
};

/** In the order of tables. */
export const METRICS = Object.keys(METRIC_HEADS) as Metric[];

/** The number that bars are about: the first of these that sides have in common. */
const HEADLINES: Metric[] = ['iops', 'bytes_per_second', 'elapsed_ns'];

/** Whether less of it is better. */
export function isDuration(metric: Metric): boolean {
  return metric !== 'iops' && metric !== 'bytes_per_second';
}

/** A number as text, without the unit of its head. */
export function metricText(metric: Metric, value: number): string {
  if (metric === 'iops') return iops(value);
  if (metric === 'bytes_per_second') return throughput(value);
  return metric === 'elapsed_ns' ? elapsed(value) : latency(value);
}

/** A number as text, with its unit. */
export function metricWithUnit(metric: Metric, value: number, rateUnit = METRIC_HEADS.iops): string {
  const unit = isDuration(metric) ? '' : ` ${metric === 'iops' ? rateUnit : METRIC_HEADS[metric]}`;
  return metricText(metric, value) + unit;
}

/** One load with the numbers of all sides that have it. */
export interface Group {
  key: string;
  label: string;
  /** The target, where sides have several. */
  target: string | null;
  operation: string;
  /** By letter and metric. */
  values: Map<string, Map<Metric, number>>;
  /** By letter and metric: what the comparison with another side says. */
  compared: Map<string, Map<Metric, { reference: string; compared: Compared }>>;
  /** What a side is compared with when the chosen one does not have the load. */
  substitute: string;
  /** What its rates count: `IOPS`, `files/s`. */
  rateUnit: string;
  /** By letter: the numbers that may be larger than was measured. */
  bounds: Map<string, Set<Metric>>;
  /** The letters of sides whose rate is that of a cache, and not of the storage. */
  cached: Set<string>;
}

/** What stands beside a rate that is not that of the storage. */
export const CACHE = 'cache';

export function cellLabel(cell: { target: string | null; workload: string }): string {
  return cell.target === null ? cell.workload : `${cell.target} ${cell.workload}`;
}

/** The sides that numbers can be set beside: where others told all of them, quotients need no comparison. */
export function referencesOf(comparisons: Comparison[]): string[] {
  const metrics = comparisons[0].pairs.flatMap((pair) => pair.cells).flatMap((cell) => cell.metrics);
  const isAllTold = metrics.every((metric) => metric.compared === null);
  return isAllTold ? comparisons[0].sides.map((side) => side.letter) : comparisons.map((one) => one.reference);
}

/** The comparison with a chosen reference; the first when there is none. */
export function comparisonFor(comparisons: Comparison[], letter: string): Comparison {
  return comparisons.find((one) => one.reference === letter) ?? comparisons[0];
}

/** The loads of a comparison. With what was expected of the storage, rates that it cannot have are known as cached. */
export function groupsOf(comparison: Comparison, explanation: Explanation | null = null): Group[] {
  const groups = new Map<string, Group>();
  const operations = new Map<string, Set<string>>();
  for (const pair of comparison.pairs) {
    // Sides whose plans differ in what matters are not set beside each other, as the sentence says.
    for (const cell of pair.cells.filter((one) => one.differs_in.length === 0)) {
      for (const metric of cell.metrics) {
        const label = cellLabel(cell);
        const key = `${label}\n${metric.operation}`;
        if (metric.reference === null && metric.value === null) continue;
        const group: Group = groups.get(key) ?? {
          key, label, target: cell.target, operation: metric.operation, values: new Map(), compared: new Map(),
          substitute: pair.reference, cached: new Set(), rateUnit: cell.rate_unit ?? METRIC_HEADS.iops,
          bounds: new Map(),
        };
        groups.set(key, group);
        operations.set(label, (operations.get(label) ?? new Set()).add(metric.operation));
        put(group.values, pair.reference, metric.metric, metric.reference);
        put(group.values, pair.side, metric.metric, metric.value);
        const ofSides = [
          { letter: pair.reference, verdict: cell.reference_verdict, fromMemory: cell.from_memory?.[0] },
          { letter: pair.side, verdict: cell.verdict, fromMemory: cell.from_memory?.[1] },
        ];
        for (const { letter, verdict, fromMemory } of ofSides) {
          const side = comparison.sides.find((one) => one.letter === letter);
          const isKnown = verdict === 'cached' || fromMemory;
          if (isKnown || isImpossible(explanation, side, cell, metric.operation)) group.cached.add(letter);
        }
        if (metric.reference_is_at_least) bound(group, pair.reference, metric.metric);
        if (metric.is_at_least) bound(group, pair.side, metric.metric);
        const compared = metric.compared && { reference: pair.reference, compared: metric.compared };
        put(group.compared, pair.side, metric.metric, compared);
      }
    }
  }
  const shown = [...groups.values()].filter((group) => headlineOf(group) !== null || group.values.size > 1);
  for (const group of shown) {
    if ((operations.get(group.label)?.size ?? 0) > 1) group.label += ` · ${group.operation}`;
  }
  return shown;
}

/** Whether a rate is so much more than the storage has that something else answered. */
function isImpossible(
  explanation: Explanation | null, side: Side | undefined, load: Pick<CellPair, 'target' | 'workload'>, operation: string,
): boolean {
  const run = explanation?.runs.find((one) => one.id === side?.run);
  const cells = run?.cells.filter((cell) => side !== undefined && isOfLoad(cell, side, load)) ?? [];
  const judged = cells.flatMap((cell) => cell.judged);
  return judged.some((one) => one.reached === 'impossible' && [operation, 'all'].includes(one.operation));
}

/** Whether a cell of a side's run measured a load. */
function isOfLoad(
  cell: { target: string; workload: string }, side: Side, load: Pick<CellPair, 'target' | 'workload'>,
): boolean {
  const names = [load.workload, ...load.workload.split(' / ')];
  return side.targets.includes(cell.target)
    && names.includes(cell.workload)
    && (load.target === null || load.target === cell.target);
}

function bound(group: Group, letter: string, metric: Metric): void {
  group.bounds.set(letter, (group.bounds.get(letter) ?? new Set()).add(metric));
}

function put<T>(map: Map<string, Map<Metric, T>>, letter: string, metric: Metric, value: T | null): void {
  if (value === null) return;
  const inner = map.get(letter) ?? new Map<Metric, T>();
  inner.set(metric, value);
  map.set(letter, inner);
}

/** The number of a load that bars show; null when no two sides have one in common. */
export function headlineOf(group: Group): Metric | null {
  const has = (metric: Metric) => [...group.values.values()].filter((values) => values.has(metric)).length;
  return HEADLINES.find((metric) => has(metric) > 1) ?? null;
}

/** The side that a load's numbers are shares of: the chosen one if it has them. */
export function referenceOf(group: Group, metric: Metric, chosen: string): string | null {
  const has = (letter: string) => (group.values.get(letter)?.get(metric) ?? 0) > 0;
  if (has(chosen)) return chosen;
  return has(group.substitute) ? group.substitute : ([...group.values.keys()].find(has) ?? null);
}

/** What a comparison says of a side in the words that icons stand for. */
export interface Judgement {
  icon: '▲' | '▼' | '≈' | '?';
  word: string;
  tone: 'good' | 'bad' | 'muted';
}

export function judge(metric: Metric, compared: Compared): Judgement {
  const isHigher = compared.conclusion === 'higher' || compared.conclusion === 'slightly-higher';
  const isLower = compared.conclusion === 'lower' || compared.conclusion === 'slightly-lower';
  if (compared.conclusion === 'equal') return { icon: '≈', word: 'equal', tone: 'muted' };
  if (!isHigher && !isLower) return { icon: '?', word: 'no difference found', tone: 'muted' };
  if (!compared.different) return { icon: '?', word: 'may be chance', tone: 'muted' };
  return isHigher !== isDuration(metric)
    ? { icon: '▲', word: 'better', tone: 'good' }
    : { icon: '▼', word: 'worse', tone: 'bad' };
}

/** The cells of a side's run that measured a load. */
export function cellsOf(report: Report, side: Side, pair: Pick<CellPair, 'target' | 'workload'>): CellView[] {
  const run = report.runs.find((one) => one.id === side.run);
  return (run?.cells ?? []).filter((cell) => isOfLoad(cell, side, pair));
}

/** The sides that may be set beside each other in a load: those whose plans do not differ from the reference's. */
export function comparedSides(comparison: Comparison, load: Pick<CellPair, 'target' | 'workload'>): Side[] {
  const differing = comparison.pairs.filter((pair) =>
    pair.cells.some((cell) => cellLabel(cell) === cellLabel(load) && cell.differs_in.length > 0),
  );
  return comparison.sides.filter((side) => differing.every((pair) => pair.side !== side.letter));
}

/** Whether charts can show a load on more than one side. */
export function isOnSeveral(
  report: Report, comparison: Comparison, load: Pick<CellPair, 'target' | 'workload'>,
): boolean {
  const sides = comparedSides(comparison, load);
  const has = (kind: 'rates' | 'latencies' | 'iterations') =>
    sides.filter((side) => cellsOf(report, side, load).some((cell) => (cell[kind] ?? null) !== null)).length > 1;
  return has('rates') || has('latencies') || has('iterations');
}

/** Each load once, in the order of pairs. */
export function loadsOf(comparison: Comparison): Pick<CellPair, 'target' | 'workload'>[] {
  const loads = new Map<string, Pick<CellPair, 'target' | 'workload'>>();
  for (const pair of comparison.pairs) {
    for (const cell of pair.cells) if (!loads.has(cellLabel(cell))) loads.set(cellLabel(cell), cell);
  }
  return [...loads.values()];
}
