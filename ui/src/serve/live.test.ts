// What is shown of a run that is going on is what the events told, whatever was missed between them.
import { describe, expect, it } from 'vitest';
import {
  heard, layoutOf, nowOf, OVER_MAX, POINTS_MAX, remainsOf, shareOf, thinned, type FollowedRuns, type LiveRun, type LiveSecond,
} from './live';
import { dataOf, linesOf } from './live-chart';

const S = 1e9;

function second(at: number, of: Partial<LiveSecond> = {}): LiveSecond {
  const point = { cell: 0, label: 'a', t_ns: at * S, length_ns: S, measured: true };
  return { ...point, iops: 100, bytes_per_second: 1000, p99_ns: 5, ...of };
}

function run(seconds: LiveSecond[], of: Partial<LiveRun> = {}): LiveRun {
  const cell = { target: 't', workload: 'a', slots_done: 0, slots: 2, is_done: false };
  const unknown = { precision: null, precision_wanted: null, word: null };
  return {
    id: 'r', name: null, tags: {}, targets: ['t'], started: '', in_cluster: false, phase: 'measuring',
    elapsed_ns: 0, layout: null, remaining_ns: null, remaining_max_ns: null, remaining_at_ns: 0, slots_done: 0, slots: 4, errors: 0,
    cells: ['a', 'b'].map((label, index) => ({ ...cell, ...unknown, label, is_measured: index === 0, now: null })),
    seconds, ...of,
  };
}

describe('events', () => {
  it('add the seconds that are new', () => {
    let runs: FollowedRuns = heard({}, [run([second(0), second(1)])]);
    runs = heard(runs, [run([second(1), second(2)])]);
    runs = heard(runs, [run([second(2), second(2, { cell: 1 }), second(9)])]);
    const places = runs.r.points.map((point) => [point.cell, point.t_ns / S]);
    expect(places).toEqual([[0, 0], [0, 1], [0, 2], [1, 2], [0, 9]]);
  });

  it('end those that are no longer told of, and take them up again', () => {
    let runs = heard({}, [run([second(0)])]);
    runs = heard(runs, []);
    expect(runs.r.isOver).toBe(true);
    expect(runs.r.points).toHaveLength(1);
    runs = heard(runs, [run([second(1)])]);
    expect(runs.r.isOver).toBe(false);
    expect(runs.r.points).toHaveLength(2);
  });

  it('say which stretch nobody listened to, and call no pause so', () => {
    const told = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => second(from + index));
    let runs = heard({}, [run(told(5, 10))]);
    runs = heard(runs, [run([...told(5, 10), ...told(30, 32)])]);
    expect(runs.r.missed).toEqual([]);
    runs = heard(runs, [run(told(90, 150))]);
    runs = heard(runs, [run(told(91, 151))]);
    expect(runs.r.missed).toEqual([[32 * S, 90 * S]]);
  });

  it('leave of those that are over the newest and the one that is looked at', () => {
    let runs: FollowedRuns = {};
    const at = (minute: number) => `2025-10-08T09:${String(minute).padStart(2, '0')}:00Z`;
    for (let index = 0; index < OVER_MAX + 10; index += 1) {
      runs = heard(runs, [run([], { id: `r${index}`, started: at(index) })], 'r3');
    }
    expect(Object.values(runs).filter((followed) => followed.isOver)).toHaveLength(OVER_MAX + 1);
    expect([runs.r3?.isOver, runs.r8, runs.r9?.isOver]).toEqual([true, undefined, true]);
    expect(Object.keys(heard(runs, []))).toHaveLength(OVER_MAX);
  });

  it('do not change what was known before', () => {
    const before = heard({}, [run([second(0)])]);
    const copy = structuredClone(before);
    heard(before, [run([second(0), second(1)])]);
    expect(before).toEqual(copy);
  });

  it('keep the whole time in few points, for hours', () => {
    let runs: FollowedRuns = {};
    for (let at = 0; at < 20_000; at += 30) {
      runs = heard(runs, [run(Array.from({ length: 60 }, (_, index) => second(at + index)))]);
      expect(runs.r.points.length).toBeLessThanOrEqual(POINTS_MAX);
    }
    const { points } = runs.r;
    expect(points[0].t_ns).toBe(0);
    expect(points.reduce((sum, point) => sum + point.length_ns, 0) / S).toBe(20_010 + 30);
    expect(points.length).toBeGreaterThan(POINTS_MAX / 4);
  });
});

describe('points that become fewer', () => {
  it('are means, and the longest latency', () => {
    const two = [second(0, { iops: 1, p99_ns: null }), second(1, { iops: 3, p99_ns: 7 })];
    expect(thinned(two, 1)).toEqual([second(0, { iops: 2, p99_ns: 7, length_ns: 2 * S })]);
  });

  it('are not of several cells, nor over a pause, nor of warming up and measuring', () => {
    const pairs = [
      [second(0), second(1, { cell: 1 })],
      [second(0), second(5)],
      [second(0, { measured: false }), second(1)],
    ];
    for (const pair of pairs) expect(thinned(pair, 1)).toEqual([pair[1]]);
  });
});

describe('what a run does now', () => {
  it('is what the cells are told to do now', () => {
    const seconds = [second(1, { iops: 40, p99_ns: null }), second(1, { cell: 1, iops: 50 })];
    const told = run(seconds);
    expect(nowOf(heard({}, [told]).r)).toBeNull();
    told.cells.forEach((cell, index) => (cell.now = seconds[index]));
    expect(nowOf(heard({}, [told]).r)).toEqual({ iops: 90, bytes: 2000, p99: 5 });
  });

  it('counts down what remains', () => {
    let runs = heard({}, [run([], { remaining_ns: 20 * S, elapsed_ns: 5 * S })]);
    expect(remainsOf(runs.r)).toEqual([15 * S, 15 * S]);
    expect(shareOf(runs.r)).toBe(0.25);
    const told = { remaining_ns: 8 * S, remaining_max_ns: 9 * S, remaining_at_ns: 12 * S };
    runs = heard(runs, [run([], { ...told, elapsed_ns: 12 * S })]);
    expect(remainsOf(runs.r)).toEqual([8 * S, 9 * S]);
    runs = heard(runs, [run([], { ...told, remaining_max_ns: null, elapsed_ns: 99 * S })]);
    expect(remainsOf(runs.r)).toEqual([0, 0]);
    expect(shareOf(runs.r)).toBe(0.99);
    expect(shareOf(heard({}, [run([], { slots: null })]).r)).toBeNull();
    expect(remainsOf(heard({}, [run([])]).r)).toBeNull();
  });
});

describe('files that are written', () => {
  it('are told with how much of them is there', () => {
    const layout = { target: '/mnt', written_bytes: 3 * 2 ** 20, total_bytes: 2 ** 30 };
    expect(layoutOf(heard({}, [run([], { layout })]).r)).toMatch(/^3 of 1024 MiB of \/mnt written/);
    expect(layoutOf(heard({}, [run([])]).r)).toBeNull();
  });
});

describe('lines of the chart', () => {
  it('are of the cells that have points, and have gaps where there was no load', () => {
    const points = [second(0), second(1), second(5)];
    expect(linesOf(run([]).cells, points).map((line) => line.label)).toEqual(['a']);
    expect(dataOf(points, (point) => point.iops)).toEqual([[0.5, 100], [1.5, 100], [5, null], [5.5, 100]]);
  });
});
