// Runs that are going on, as the server's events tell of them: what they are, and their rates so far. Pure.

/** Points of a run's charts; more become fewer that stand for longer. */
export const POINTS_MAX = 600;

/** Runs that are over and still known. */
export const OVER_MAX = 20;

/** More time than this between two seconds is a pause. */
const GAP_NS = 0.5e9;

export interface LiveCell {
  target: string;
  workload: string;
  label: string;
  slots_done: number;
  slots: number | null;
  is_measured: boolean;
  /** What it did in its last second; null when that is long ago. */
  now: LiveSecond | null;
  is_done: boolean;
  precision: number | null;
  precision_wanted: number | null;
  word: string | null;
}

export interface LiveSecond {
  cell: number;
  label: string;
  t_ns: number;
  length_ns: number;
  measured: boolean;
  iops: number;
  bytes_per_second: number;
  p99_ns: number | null;
}

export interface LiveRun {
  id: string;
  name: string | null;
  tags: Record<string, string>;
  targets: string[];
  started: string;
  in_cluster: boolean;
  phase: 'preparing' | 'measuring' | 'between' | 'ended';
  elapsed_ns: number;
  /** Files that are being written before anything is measured. */
  layout: { target: string; written_bytes: number; total_bytes: number } | null;
  /** What remained when it was told the last time, and when that was in the run's time. */
  remaining_ns: number | null;
  remaining_max_ns: number | null;
  remaining_at_ns: number;
  slots_done: number;
  slots: number | null;
  errors: number;
  cells: LiveCell[];
  seconds?: LiveSecond[];
}

/** A run with everything that was heard of it. */
export interface Followed {
  run: LiveRun;
  /** In the order of time. */
  points: LiveSecond[];
  /** Until when each cell's seconds are in the points. */
  until: Record<number, number>;
  /** Stretches of the run, from and to in nanoseconds, that nobody listened to: no points there do not mean no load. */
  missed: [number, number][];
  /** Whether it is no longer told of. */
  isOver: boolean;
}

export type FollowedRuns = Record<string, Followed>;

/** What is known after an event: the whole of what is going on. Those that are not in it are over, and of them only the
    newest stay, and the one that is looked at. */
export function heard(before: FollowedRuns, runs: LiveRun[], shown: string | null = null): FollowedRuns {
  const after: FollowedRuns = {};
  const going = new Set(runs.map((run) => run.id));
  const over = Object.values(before).filter(({ run }) => !going.has(run.id));
  const newest = over.sort((a, b) => Date.parse(b.run.started) - Date.parse(a.run.started)).slice(0, OVER_MAX);
  for (const [id, followed] of Object.entries(before)) {
    if (id === shown || newest.includes(followed)) after[id] = { ...followed, isOver: true };
  }
  for (const run of runs) after[run.id] = joined(before[run.id], run);
  return after;
}

function joined(before: Followed | undefined, run: LiveRun): Followed {
  const until = { ...before?.until };
  const isNew = (second: LiveSecond) => second.t_ns >= (until[second.cell] ?? 0);
  const seconds = (run.seconds ?? []).filter(isNew);
  const heardUntil = Math.max(0, ...Object.values(until));
  const toldFrom = (run.seconds ?? []).reduce((first, second) => Math.min(first, second.t_ns), Infinity);
  // What is told goes back to what was heard before, unless that is too long ago.
  const isMissed = heardUntil > 0 && Number.isFinite(toldFrom) && toldFrom - heardUntil > GAP_NS;
  const missed = [...(before?.missed ?? [])];
  if (isMissed) missed.push([heardUntil, toldFrom]);
  for (const second of seconds) until[second.cell] = second.t_ns + second.length_ns;
  const points = [...(before?.points ?? []), ...seconds].sort((a, b) => a.t_ns - b.t_ns);
  return { run, points: thinned(points), until, missed, isOver: false };
}

/** Not more points than are kept. Neighbours become one, the shortest first, so that the whole time stays. */
export function thinned(points: LiveSecond[], most = POINTS_MAX): LiveSecond[] {
  let kept = points;
  while (kept.length > most) {
    const fewer = halved(kept);
    // Where nothing has a neighbour, the oldest go.
    kept = fewer.length < kept.length ? fewer : kept.slice(-most);
  }
  return kept;
}

function halved(points: LiveSecond[]): LiveSecond[] {
  const lengths = points.map((point) => point.length_ns);
  const longest = lengths.reduce((a, b) => Math.max(a, b));
  // Those that already stand for long stay as they are while there are shorter ones.
  for (let most = 2 * lengths.reduce((a, b) => Math.min(a, b)); ; most *= 2) {
    const out = inPairs(points, most);
    if (out.length < points.length || !(most > 0 && most <= longest)) return out;
  }
}

/** Neighbours as one where each stands for less than `most` nanoseconds. */
function inPairs(points: LiveSecond[], most: number): LiveSecond[] {
  const waiting = new Map<number, number>();
  const out: LiveSecond[] = [];
  for (const point of points) {
    const at = waiting.get(point.cell);
    const other = at === undefined ? undefined : out[at];
    const isShort = point.length_ns < most;
    if (at !== undefined && other && isShort && areNeighbours(other, point)) {
      out[at] = merged(other, point);
      waiting.delete(point.cell);
    } else {
      if (isShort) waiting.set(point.cell, out.length);
      else waiting.delete(point.cell);
      out.push(point);
    }
  }
  return out;
}

function areNeighbours(one: LiveSecond, next: LiveSecond): boolean {
  return one.measured === next.measured && !hasGap(one, next);
}

/** Whether there was no load between two points of a cell. */
export function hasGap(one: LiveSecond, next: LiveSecond): boolean {
  return next.t_ns - (one.t_ns + one.length_ns) > GAP_NS;
}

/** One point of two: rates are means, and of the two latencies the longer. */
function merged(one: LiveSecond, next: LiveSecond): LiveSecond {
  const length = one.length_ns + next.length_ns;
  const mean = (a: number, b: number) => (a * one.length_ns + b * next.length_ns) / length;
  const latencies = [one.p99_ns, next.p99_ns].filter((latency) => latency !== null);
  return {
    ...one,
    length_ns: length,
    iops: mean(one.iops, next.iops),
    bytes_per_second: mean(one.bytes_per_second, next.bytes_per_second),
    p99_ns: latencies.length > 0 ? Math.max(...latencies) : null,
  };
}

export interface Now {
  iops: number;
  bytes: number;
  /** Of the cell that is the slowest; null where a second has too few operations. */
  p99: number | null;
}

/** What the cells that are measured do now, together; null where that is not known. */
export function nowOf(followed: Followed): Now | null {
  const all = followed.run.cells.map((cell) => cell.now).filter((now) => now !== null);
  if (all.length === 0) return null;
  const latencies = all.map((second) => second.p99_ns).filter((latency) => latency !== null);
  return {
    iops: all.reduce((sum, second) => sum + second.iops, 0),
    bytes: all.reduce((sum, second) => sum + second.bytes_per_second, 0),
    p99: latencies.length > 0 ? Math.max(...latencies) : null,
  };
}

const PHASES: Record<LiveRun['phase'], string> = {
  preparing: 'preparing',
  measuring: 'measuring',
  between: 'between two slots',
  ended: 'ended; its record is being saved',
};

export function phaseOf(followed: Followed): string {
  return followed.isOver ? 'over' : (PHASES[followed.run.phase] ?? followed.run.phase);
}

/** How much time remains, at least and at most; null where nobody knows. */
export function remainsOf({ run }: Followed): [number, number] | null {
  if (run.remaining_ns === null) return null;
  const passed = Math.max(0, run.elapsed_ns - run.remaining_at_ns);
  const left = (from: number) => Math.max(0, from - passed);
  return [left(run.remaining_ns), left(Math.max(run.remaining_ns, run.remaining_max_ns ?? 0))];
}

/** What is written before anything is measured, in words; null while nothing is. */
export function layoutOf({ run: { layout } }: Followed): string | null {
  if (!layout) return null;
  const [done, total] = [layout.written_bytes, layout.total_bytes].map((bytes) => (bytes / 2 ** 20).toFixed(0));
  return `${done} of ${total} MiB of ${layout.target} written, before reads are measured`;
}

/** How much of a run is done, from 0 to 1; null where what is measured decides. */
export function shareOf(followed: Followed): number | null {
  const { run } = followed;
  const remains = remainsOf(followed);
  const ofTime = remains && run.elapsed_ns > 0 ? run.elapsed_ns / (run.elapsed_ns + remains[0]) : 0;
  if (!run.slots) return remains ? Math.min(ofTime, 0.99) : null;
  const ofSlots = run.slots_done / run.slots;
  return ofSlots >= 1 ? 1 : Math.min(Math.max(ofSlots, ofTime), 0.99);
}
