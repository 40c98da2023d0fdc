/* Made of docs/schema/report-1.json, whole, by npm run types: it is as long as the schema. */

/**
 * Something about a cell's plan without which its numbers mean something else.
 */
export type Aspect =
  | "pattern"
  | "block-size"
  | "queue-depth"
  | "jobs"
  | "working-set"
  | "offset"
  | "file-sharing"
  | "layout"
  | "stride"
  | "distribution"
  | "cache-mode"
  | "durability"
  | "think-time"
  | "rate"
  | "payload"
  | "verification"
  | "engine"
  | "polling"
  | "company"
  | "settling"
  | "background";
/**
 * What may be said of a cell. Only `steady` is a claim.
 */
export type Verdict = "steady" | "burst" | "drifting" | "unstable" | "cached" | "client-limited" | "short";

/**
 * Runs, and what follows from them.
 */
export interface Report {
  /**
   * `plimsoll-report/1`.
   */
  schema: string;
  /**
   * What it is called.
   */
  title: string;
  /**
   * When it was made, RFC 3339.
   */
  created: string;
  /**
   * The version of plimsoll that made it.
   */
  version: string;
  /**
   * What a reader should know first, the most telling first.
   */
  findings: Note[];
  /**
   * The runs, in the order in which they were named.
   */
  runs: Run[];
  /**
   * The sides of the runs with each other: one comparison for each reference that may be chosen, the first of which
   * is the one that was asked for.
   */
  comparisons: Comparison[];
  /**
   * Why no other side than that of the first comparison can be chosen as the reference.
   */
  fixed_reference: string | null;
  /**
   * Why nothing is compared.
   */
  not_compared: string | null;
  /**
   * What the sides cost, as far as the reader's own prices tell.
   */
  prices: TargetPrice[];
  /**
   * Rates of the same load over runs.
   */
  trends: Trend[];
  /**
   * Loads that differ in block size and queue depth alone.
   */
  sweeps: Sweep[];
  /**
   * What storage should have delivered beside what it did; null when nothing is known of what was bought, and in a
   * document that was shortened.
   */
  explanation: Explanation | null;
  /**
   * Sets of files by the length of their files.
   */
  files: FileClass[];
  /**
   * Which target suits which use.
   */
  uses: Use[];
  /**
   * What people say about the numbers; null when no claims were handed in.
   */
  claims: JudgedClaims | null;
}
/**
 * A sentence and how bad it is.
 */
export interface Note {
  /**
   * How bad it is.
   */
  severity: "info" | "warning" | "error";
  /**
   * The sentence.
   */
  text: string;
}
/**
 * A run.
 */
export interface Run {
  /**
   * Its id.
   */
  id: string;
  /**
   * What it is called: its name, the file that it was read from, or its targets.
   */
  name: string;
  /**
   * When it began, RFC 3339.
   */
  started: string;
  /**
   * How long it took.
   */
  elapsed_ns: number;
  /**
   * How it ended, when it did not end as planned.
   */
  ended: Note | null;
  /**
   * Whether another program measured.
   */
  is_told: boolean;
  /**
   * The targets.
   */
  targets: string[];
  /**
   * Labelled lines: what was measured, where and with what.
   */
  facts: Fact[];
  /**
   * What is to be said about its numbers, the worst first.
   */
  notes: Note[];
  /**
   * The numbers: a table for each target, then what else there is.
   */
  tables: Table[];
  /**
   * What charts show of its cells.
   */
  cells: CellView[];
  /**
   * Lives of volumes.
   */
  lives: Life[];
  /**
   * A command that does the same again.
   */
  reproduce: string | null;
  /**
   * The text that it was made from, or the plan that was asked.
   */
  raw: Raw | null;
}
/**
 * A labelled line.
 */
export interface Fact {
  /**
   * The label.
   */
  label: string;
  /**
   * The text.
   */
  text: string;
}
/**
 * A table of finished strings.
 */
export interface Table {
  /**
   * What it is about.
   */
  title: string;
  /**
   * Its columns, all of the same length.
   */
  columns: TableColumn[];
}
/**
 * A column of a table.
 */
export interface TableColumn {
  /**
   * Its head.
   */
  head: string;
  /**
   * Whether its values stand on the right.
   */
  is_number: boolean;
  /**
   * Its values.
   */
  values: string[];
}
/**
 * What charts show of a cell.
 */
export interface CellView {
  /**
   * Its target.
   */
  target: string;
  /**
   * Its workload.
   */
  workload: string;
  /**
   * What charts call it: with its target when the run has several.
   */
  label: string;
  /**
   * One word about its numbers.
   */
  word: string;
  /**
   * What the word means.
   */
  meaning: string;
  /**
   * Its rate over time.
   */
  rates: Rates | null;
  /**
   * Its latencies.
   */
  latencies: Latencies | null;
  /**
   * What each of its workers or threads did.
   */
  fairness?: Fairness | null;
  /**
   * How long a command took, each time.
   */
  iterations?: Iterations | null;
}
/**
 * A rate over time.
 */
export interface Rates {
  /**
   * What it shows, in a sentence.
   */
  title: string;
  /**
   * Stretches of load without a pause, in the order of time.
   */
  stretches: Stretch[];
  /**
   * The stretch of the run that the verdict speaks of, in milliseconds since its start.
   *
   * @minItems 2
   * @maxItems 2
   */
  window_ms: [number, number] | null;
  /**
   * Rates that are said to be possible.
   */
  limits: LimitLine[];
  /**
   * How many seconds a point stands for, where there are too many to show each.
   */
  seconds_a_point: number;
}
/**
 * A stretch of load without a pause. All lists have one entry for each point.
 */
export interface Stretch {
  /**
   * What it was.
   */
  part: "warm_up" | "discarded" | "counted";
  /**
   * When it began, in milliseconds since the start of the run.
   */
  begin_ms: number;
  /**
   * When it ended.
   */
  end_ms: number;
  /**
   * The middle of each point, in milliseconds since the start of the run.
   */
  t_ms: number[];
  /**
   * Operations per second.
   */
  iops: number[];
  /**
   * The slowest and the fastest second of each point; empty where a point is a second.
   */
  extremes: [number, number][];
  /**
   * Bytes per second.
   */
  bytes_per_second: number[];
  /**
   * Median latency; of several seconds that of the slowest.
   */
  p50_us: (number | null)[];
  /**
   * The latency that 99 % do not exceed; of several seconds that of the slowest.
   */
  p99_us: (number | null)[];
}
/**
 * A rate that is said to be possible.
 */
export interface LimitLine {
  /**
   * What it is, and who says so: `lasting (given)`.
   */
  name: string;
  /**
   * Operations per second.
   */
  iops: number | null;
  /**
   * Bytes per second.
   */
  bytes_per_second: number | null;
}
/**
 * Latency distributions of a cell.
 */
export interface Latencies {
  /**
   * What they show, in a sentence.
   */
  title: string;
  /**
   * One for each kind of operation.
   */
  curves: LatencyCurve[];
}
/**
 * A latency distribution.
 */
export interface LatencyCurve {
  /**
   * Of which operations.
   */
  operation: string;
  /**
   * How many there were; null where another program does not tell.
   */
  operations: number | null;
  /**
   * Percentiles that the sample supports, in their order.
   */
  percentiles: PercentilePoint[];
  /**
   * How many operations took how long: the upper ends of classes in microseconds, and counts.
   */
  histogram: [unknown, unknown][];
}
/**
 * A percentile.
 */
export interface PercentilePoint {
  /**
   * How many of a hundred operations take at most so long.
   */
  percent: number;
  /**
   * How long, in microseconds.
   */
  latency_us: number;
  /**
   * Whether it may be longer than was measured: so many take so long at least.
   */
  is_at_least?: boolean;
  /**
   * The ends of its 95 % interval, where it is known; the upper one may be open.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval_us?: [unknown, unknown] | null;
}
/**
 * What each of several workers did.
 */
export interface Fairness {
  /**
   * What it shows, in a sentence.
   */
  title: string;
  /**
   * What one of them is called: `worker`, `thread`.
   */
  of: string;
  /**
   * What the numbers are: `IOPS`.
   */
  unit: string;
  /**
   * The number of each.
   */
  values: number[];
}
/**
 * How long a command took, each time.
 */
export interface Iterations {
  /**
   * What they show, in a sentence.
   */
  title: string;
  /**
   * Each time, in its order.
   */
  iterations: IterationView[];
}
/**
 * A command that ran.
 */
export interface IterationView {
  /**
   * How long it took by the clock.
   */
  seconds: number;
  /**
   * Processor time of programs.
   */
  user_seconds: number;
  /**
   * Processor time of the kernel.
   */
  system_seconds: number;
  /**
   * Whether the numbers are made of it.
   */
  is_counted: boolean;
}
/**
 * The life of a volume, as bars.
 */
export interface Life {
  /**
   * The target that it was, and how it came to be used.
   */
  label: string;
  /**
   * Its phases.
   */
  phases: LifePhase[];
  /**
   * Why it went no further.
   */
  failed: string | null;
}
/**
 * A phase of a life.
 */
export interface LifePhase {
  /**
   * Its name.
   */
  name: string;
  /**
   * When it began, in milliseconds since the volume was asked for: its claim or its pod was sent, or it was to move.
   */
  from_ms: number;
  /**
   * When it ended.
   */
  to_ms: number;
}
/**
 * A text as it is.
 */
export interface Raw {
  /**
   * What it is.
   */
  title: string;
  /**
   * The text; of a long one the lines that were read, with some around them.
   */
  text: string;
  /**
   * How many bytes of it are left out.
   */
  omitted_bytes: number;
}
/**
 * Records side by side.
 */
export interface Comparison {
  /**
   * `plimsoll-comparison/1`.
   */
  schema: string;
  /**
   * The letter of the side that others are compared with.
   */
  reference: string;
  /**
   * Differences below this share do not matter.
   */
  margin: number;
  /**
   * What is compared.
   */
  sides: Side[];
  /**
   * Each other side with the reference.
   */
  pairs: Pair[];
  /**
   * What became of the expectations.
   */
  expectations: Outcome[];
}
/**
 * One of the systems that are compared.
 */
export interface Side {
  /**
   * Its short name: A, B, ...
   */
  letter: string;
  /**
   * The run that measured it.
   */
  run: string;
  /**
   * The name given to the run.
   */
  name: string | null;
  /**
   * When the run began.
   */
  started: string;
  /**
   * How long it took.
   */
  elapsed_ns: number;
  /**
   * The machine that measured.
   */
  hostname: string | null;
  /**
   * The targets' paths.
   */
  targets: string[];
  /**
   * The array that the target is, where it is one.
   */
  array?: string | null;
  /**
   * What it is, in a line.
   */
  description: string;
}
/**
 * A side and the reference.
 */
export interface Pair {
  /**
   * The letter of the reference.
   */
  reference: string;
  /**
   * The letter of the other side.
   */
  side: string;
  /**
   * Whether one run measured both.
   */
  in_one_run: boolean;
  /**
   * Whether it did so at the same time, and not in turns.
   */
  at_once?: boolean;
  /**
   * Whether it was done with one before it began with the other, at least of one workload.
   */
  one_after_another?: boolean;
  /**
   * Whether another program measured at least one of them.
   */
  is_told?: boolean;
  /**
   * What else differs.
   */
  confounded: Difference[];
  /**
   * What another program did not tell of the plans, so that it may differ.
   */
  untold?: Aspect[];
  /**
   * What both measured.
   */
  cells: CellPair[];
  /**
   * What applications gain by what is faster for synthetic loads.
   */
  beside?: Beside[];
  /**
   * Workloads that only the reference has.
   */
  only_in_reference: string[];
  /**
   * Workloads that only the other side has.
   */
  only_in_side: string[];
}
/**
 * Something that is not the same on both sides.
 */
export interface Difference {
  /**
   * What it is.
   */
  name: string;
  /**
   * What the reference has.
   */
  reference: string;
  /**
   * What the other side has.
   */
  value: string;
}
/**
 * One workload on both sides.
 */
export interface CellPair {
  /**
   * The target, when sides have several.
   */
  target: string | null;
  /**
   * The workload's name.
   */
  workload: string;
  /**
   * What its rates count where that are no I/Os: `files/s`, `operations/s`.
   */
  rate_unit?: string | null;
  /**
   * Whether memory answered each side, as far as its phase of a set of files says so; absent where it did neither.
   *
   * @minItems 2
   * @maxItems 2
   */
  from_memory?: [boolean, boolean];
  /**
   * The verdict of the reference; absent when it was not run, or another program measured it.
   */
  reference_verdict: Verdict | null;
  /**
   * Why the reference was not run.
   */
  reference_not_run?: string | null;
  /**
   * The verdict of the other side.
   */
  verdict: Verdict | null;
  /**
   * Why the other side was not run.
   */
  not_run?: string | null;
  /**
   * Operations of the reference that failed, and blocks that were not as it had written them.
   */
  reference_errors: number;
  /**
   * Operations of the other side that failed, and blocks that were not as it had written them.
   */
  errors: number;
  /**
   * In what the plans differ, when they differ in what matters: nothing is compared then.
   */
  differs_in: Difference[];
  /**
   * The answer in words.
   */
  sentence: string;
  /**
   * The numbers.
   */
  metrics: MetricPair[];
}
/**
 * One number of both sides.
 */
export interface MetricPair {
  /**
   * Of which operations.
   */
  operation: string;
  /**
   * Which number.
   */
  metric:
    | "iops"
    | "bytes_per_second"
    | "latency_p50_ns"
    | "latency_p99_ns"
    | "latency_p99_9_ns"
    | "latency_mean_ns"
    | "elapsed_ns";
  /**
   * The number of the reference, over its whole window.
   */
  reference: number | null;
  /**
   * The number of the other side.
   */
  value: number | null;
  /**
   * Whether that of the reference may be longer than was measured.
   */
  reference_is_at_least?: boolean;
  /**
   * Whether that of the other side may be.
   */
  is_at_least?: boolean;
  /**
   * What the comparison says.
   */
  compared: Compared | null;
  /**
   * Whether it is a rate of which nothing is left: as sure a decline as any, but without a ratio.
   */
  has_stopped: boolean;
  /**
   * Why there is none.
   */
  reason?: string | null;
}
/**
 * What the comparison of a number says.
 */
export interface Compared {
  /**
   * The ratio.
   */
  ratio: number;
  /**
   * The lower end of its interval.
   */
  low: number;
  /**
   * The upper end.
   */
  high: number;
  /**
   * The probability of as large a difference between equals.
   */
  p_value: number;
  /**
   * The smallest difference, as a share, that is found four times in five.
   */
  detectable: number;
  /**
   * The standard error of the ratio's logarithm.
   */
  error: number;
  /**
   * Degrees of freedom that the error is known with.
   */
  degrees: number;
  /**
   * How it was found.
   */
  method: "paired-blocks" | "paired-passes" | "unpaired-visits" | "unpaired-intervals";
  /**
   * Blocks, visits or iterations of the reference and of the other side; a cell in one piece is one.
   *
   * @minItems 2
   * @maxItems 2
   */
  values: [number, number];
  /**
   * What the interval alone permits to say.
   */
  conclusion: "higher" | "slightly-higher" | "equal" | "slightly-lower" | "lower" | "no-difference";
  /**
   * Whether a difference may be claimed, all comparisons considered.
   */
  different: boolean;
  /**
   * What ranks alone say, where there are values enough.
   */
  ranks: RankRatio | null;
}
/**
 * The ratio by Hodges and Lehmann with its exact interval, which one value far off does not move.
 */
export interface RankRatio {
  /**
   * The ratio.
   */
  ratio: number;
  /**
   * The lower end of its 95 % interval.
   */
  low: number;
  /**
   * The upper end.
   */
  high: number;
}
/**
 * How much an application gains by a storage that is faster for a synthetic load.
 */
export interface Beside {
  /**
   * The target, when sides have several.
   */
  target: string | null;
  /**
   * The letter of the side that is faster for the synthetic load.
   */
  faster: string;
  /**
   * That load.
   */
  synthetic: string;
  /**
   * How many times as fast it is there.
   */
  synthetic_ratio: number;
  /**
   * The application.
   */
  application: string;
  /**
   * How many times as fast it is there.
   */
  application_ratio: number;
  /**
   * What follows.
   */
  sentence: string;
}
/**
 * What became of an expectation.
 */
export interface Outcome {
  /**
   * The expectation, as typed.
   */
  expectation: string;
  /**
   * The worst of all cells. It only holds as a whole when every cell was judged.
   */
  result: "not-judged" | "partly-held" | "held" | "unsure" | "breached";
  /**
   * Every number that it is about, also where it could not be judged.
   */
  cells: Judged[];
}
/**
 * An expectation about one number.
 */
export interface Judged {
  /**
   * The letter of the side.
   */
  side: string;
  /**
   * The target, when sides have several, and the workload.
   */
  cell: string;
  /**
   * Which operations; absent where the cell as a whole could not be judged.
   */
  operation?: string | null;
  /**
   * What became of it.
   */
  result: "not-judged" | "partly-held" | "held" | "unsure" | "breached";
  /**
   * What the comparison says, or why it says nothing.
   */
  text: string;
}
/**
 * What a target of a side costs.
 */
export interface TargetPrice {
  /**
   * The letter of the side.
   */
  side: string;
  /**
   * The target.
   */
  target: string;
  /**
   * Its price, without that of the machine; null when that cannot be told.
   */
  price: Price | null;
  /**
   * Why it cannot be told.
   */
  unknown: string | null;
}
/**
 * A price.
 */
export interface Price {
  /**
   * For a month.
   */
  per_month: number;
  /**
   * In what.
   */
  currency: string;
  /**
   * Of when it is.
   */
  date: string;
  /**
   * The row of the reader's file that it follows from.
   */
  row: string;
}
/**
 * A number of the same load over runs.
 */
export interface Trend {
  /**
   * What it shows, in a sentence.
   */
  title: string;
  /**
   * The target.
   */
  target: string;
  /**
   * The workload.
   */
  workload: string;
  /**
   * Of which operations.
   */
  operation: string;
  /**
   * What is counted: `IOPS`, `files/s`, `operations/s`.
   */
  unit: string;
  /**
   * The runs that have it, the oldest first.
   */
  points: TrendPoint[];
  /**
   * How many of them were compared with others.
   */
  compared: number;
  /**
   * Where it changed beyond chance.
   */
  changes: Change[];
  /**
   * Between which rates the runs since the last change lie.
   *
   * @minItems 2
   * @maxItems 2
   */
  band: [number, number] | null;
}
/**
 * A run in a trend.
 */
export interface TrendPoint {
  /**
   * The run.
   */
  run: string;
  /**
   * When it began, RFC 3339.
   */
  started: string;
  /**
   * Operations per second.
   */
  iops: number;
  /**
   * The ends of its 95 % interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval: [number, number] | null;
  /**
   * The latency that 99 % do not exceed, in microseconds.
   */
  p99_us: number | null;
  /**
   * One word about its numbers.
   */
  word: string;
  /**
   * Which baselines it is.
   */
  baselines?: string[];
  /**
   * What differs from the run before: kernel, machine, device.
   */
  environment?: string[];
}
/**
 * A change in a trend.
 */
export interface Change {
  /**
   * The point that is other than those before it.
   */
  at: number;
  /**
   * How many times as much it has as the run that it was compared with; null where one of both did nothing.
   */
  ratio: number | null;
  /**
   * The ends of the 95 % interval of that.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval: [number, number] | null;
  /**
   * In a sentence.
   */
  text: string;
}
/**
 * Loads of one target that differ in block size and queue depth alone.
 */
export interface Sweep {
  /**
   * What it shows, in a sentence.
   */
  title: string;
  /**
   * The run.
   */
  run: string;
  /**
   * The target.
   */
  target: string;
  /**
   * Reads, writes or both: `randread`.
   */
  pattern: string;
  /**
   * The block sizes, ascending.
   */
  block_sizes: number[];
  /**
   * The operations in flight, ascending: queue depth times jobs.
   */
  depths: number[];
  /**
   * The cells that were measured.
   */
  cells: SweepCell[];
  /**
   * The block size from which on the limit of throughput is reached before that of operations.
   */
  crossover_bytes: number | null;
}
/**
 * A cell of a sweep.
 */
export interface SweepCell {
  /**
   * The place of its block size.
   */
  block_size: number;
  /**
   * The place of its depth.
   */
  depth: number;
  /**
   * Operations per second.
   */
  iops: number;
  /**
   * Bytes per second.
   */
  bytes_per_second: number;
  /**
   * The latency that 99 % do not exceed, in microseconds; of a mix that of the slower kind.
   */
  p99_us: number | null;
  /**
   * One word about its numbers.
   */
  word: string;
  /**
   * Whether it is the shallowest of several of its block size that has 95 % of the most IOPS: what is deeper mostly
   * waits. None is where the deepest still has more.
   */
  is_knee: boolean;
}
/**
 * Records explained.
 */
export interface Explanation {
  /**
   * `plimsoll-explanation/1`.
   */
  schema: string;
  /**
   * The records.
   */
  runs: ExplainedRun[];
  /**
   * The same workloads on different storage, and whether what was bought explains the difference.
   */
  pairs: Pair2[];
}
/**
 * A record explained.
 */
export interface ExplainedRun {
  /**
   * Its id.
   */
  id: string;
  /**
   * What it is called: its name or the file that it was read from.
   */
  name: string;
  /**
   * Its cells.
   */
  cells: ExplainedCell[];
}
/**
 * A cell explained.
 */
export interface ExplainedCell {
  /**
   * Its target.
   */
  target: string;
  /**
   * Its workload.
   */
  workload: string;
  /**
   * What that is. Of an application the requests of its disk are judged.
   */
  kind: "blocks" | "files" | "application" | "lifecycle";
  /**
   * What was bought for it, as far as it is known.
   */
  bought: string | null;
  /**
   * What a reader has to know of that.
   */
  notes?: string[];
  /**
   * Its rates beside what was to be expected.
   */
  judged: Judged2[];
  /**
   * Why they are what they are, the most telling first.
   */
  causes: Cause[];
  /**
   * Numbers that the text states and a slip of units explains.
   */
  slips: Slip[];
  /**
   * What the record itself says of the numbers, as sentences.
   */
  findings: string[];
}
/**
 * A rate beside the limit that it is closest to, or furthest above.
 */
export interface Judged2 {
  /**
   * Which operations.
   */
  operation: string;
  /**
   * What it is counted in.
   */
  unit: "iops" | "files_per_second" | "bytes_per_second";
  /**
   * What was measured.
   */
  measured: number;
  /**
   * The ends of its 95 % interval; null where nobody knows how sure it is.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval: [number, number] | null;
  /**
   * What lasts.
   */
  lasting: number;
  /**
   * The most that is possible while credits last; null when there are none.
   */
  burst: number | null;
  /**
   * How long credits last at that rate, in seconds.
   */
  burst_seconds: number | null;
  /**
   * How long an empty bucket takes to be full when nothing is done, in seconds.
   */
  refill_seconds: number | null;
  /**
   * What a load of this length would get on average from a full bucket; null when its length is not known.
   */
  mean_from_full: number | null;
  /**
   * Which part of the way binds.
   */
  part: "disk" | "pool" | "vm";
  tolerance: Tolerance;
  /**
   * How it stands beside what lasts.
   */
  standing: "within" | "burst-only" | "under" | "over" | "impossible";
  /**
   * What was to be expected: what lasts, or where credits were used what they give.
   */
  expected: number;
  /**
   * How it stands beside that.
   */
  reached: "within" | "under" | "over" | "impossible";
}
/**
 * How exactly that part is kept.
 */
export interface Tolerance {
  /**
   * Below, as a share.
   */
  under: number;
  /**
   * Above, as a share.
   */
  over: number;
}
/**
 * A reason for a rate.
 */
export interface Cause {
  /**
   * Stable, for programs.
   */
  code: string;
  /**
   * The sentence.
   */
  text: string;
  /**
   * What to do about it; empty when nothing is wrong.
   */
  advice?: string;
  /**
   * The numbers it rests on.
   */
  evidence?: {
    [k: string]: unknown;
  };
}
/**
 * A number that a text states, and what it should be.
 */
export interface Slip {
  /**
   * Its lines in the text, from 1.
   */
  lines: number[];
  /**
   * As it stands there.
   */
  stated: string;
  /**
   * Of which operations.
   */
  operation: string;
  /**
   * The size that was taken wrongly, in `unit`.
   */
  size: number;
  /**
   * The unit that the report has it in: `GB`.
   */
  unit: string;
  /**
   * The unit that it was taken for: `GiB`.
   */
  taken_for: string;
  /**
   * The operations per second that follow from the report.
   */
  iops: number;
  /**
   * Those that follow from the slip.
   */
  iops_by_slip: number;
}
/**
 * Two cells of one workload.
 */
export interface Pair2 {
  /**
   * The workload.
   */
  workload: string;
  /**
   * The targets, the faster one first.
   *
   * @minItems 2
   * @maxItems 2
   */
  targets: [string, string];
  /**
   * Of which operations.
   */
  operation: string;
  /**
   * How many times as fast the first was.
   */
  measured: number;
  /**
   * How many times as fast it should have been.
   */
  expected: number | null;
  /**
   * The probability of such a difference between equals.
   */
  p_value: number | null;
  /**
   * What explains it.
   */
  explained: "by-provisioning" | "by-caches" | "no-difference" | "no";
  /**
   * The sentence.
   */
  text: string;
}
/**
 * What was done with files of one length.
 */
export interface FileClass {
  /**
   * What it shows, in a sentence.
   */
  title: string;
  /**
   * Bytes of a file.
   */
  size_bytes: number;
  /**
   * The targets, or what the results are called, in the order in which they were found.
   */
  rows: FileRow[];
}
/**
 * What a target did with files of one length.
 */
export interface FileRow {
  /**
   * The target, or what the result is called.
   */
  target: string;
  /**
   * How many files there were.
   */
  files: number;
  /**
   * Its phases.
   */
  phases: FilePhaseView[];
}
/**
 * A phase of a set of files.
 */
export interface FilePhaseView {
  /**
   * Its name: `write`, `read`.
   */
  name: string;
  /**
   * Files per second.
   */
  files_per_second: number;
  /**
   * The ends of the 95 % interval of that.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval: [number, number] | null;
  /**
   * Bytes per second; null for phases that carry no data.
   */
  bytes_per_second: number | null;
  /**
   * The latency that 99 % do not exceed, in microseconds.
   */
  p99_us: number | null;
  /**
   * Whether a cache answered, and how that is known.
   */
  cached: string | null;
}
/**
 * A use of storage, and how the targets do in it.
 */
export interface Use {
  /**
   * The use: the workload that stands for it.
   */
  name: string;
  /**
   * Which target is best, in a sentence.
   */
  title: string;
  /**
   * What is counted: `IOPS`, `files/s`, `operations/s`, `MB/s`, of which more is better; `s`, `us (p99)`, of which
   * less is.
   */
  unit: string;
  /**
   * The targets, the best first, and those of caches last.
   */
  targets: UseTarget[];
}
/**
 * How a target does in a use.
 */
export interface UseTarget {
  /**
   * The letter of the side.
   */
  side: string;
  /**
   * The target.
   */
  target: string;
  /**
   * The number, in the unit of the use.
   */
  value: number;
  /**
   * How many times as good as this one the best is; null where this one did nothing, or a cache answered.
   */
  times_worse: number | null;
  /**
   * Whether the difference to the best is beyond chance; of the best itself, that to the next.
   */
  is_sure: boolean;
  /**
   * Whether it is surely no other than the best by more than matters.
   */
  is_as_good?: boolean;
  /**
   * Whether a cache answered instead of the storage: it is never the best, and the last.
   */
  is_cached?: boolean;
}
/**
 * Claims with their verdicts.
 */
export interface JudgedClaims {
  /**
   * The schema: [`SCHEMA`].
   */
  schema: string;
  /**
   * In the order of the file.
   */
  claims: JudgedClaim[];
}
/**
 * A claim with its verdict.
 */
export interface JudgedClaim {
  /**
   * Where it stands in its file.
   */
  line: number;
  /**
   * What it is called.
   */
  id?: string | null;
  /**
   * Its wording.
   */
  claim: string;
  /**
   * What was evaluated instead of the wording.
   */
  check?: string | null;
  /**
   * The verdict: that of the worst part.
   */
  verdict: "follows" | "rounding" | "no-data" | "does-not-follow";
  /**
   * The recomputation, or why there is none.
   */
  recomputation: string;
  /**
   * What was evaluated one by one.
   */
  parts: JudgedPart[];
}
/**
 * One thing that a claim says.
 */
export interface JudgedPart {
  /**
   * The verdict.
   */
  verdict: "follows" | "rounding" | "no-data" | "does-not-follow";
  /**
   * The recomputation.
   */
  recomputation: string;
}
