// What is known of the rates of a cell over time: its points, panels, limits, and its table.
import { iops, latency, orAbsent, throughput } from '../lib/numbers';
import { tableOf } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Rates, Stretch, Table } from '../report';
import type { Panel } from './panels';
import { timeLabel } from './scale';

export const PART_NAMES: Record<Stretch['part'], string> = {
  warm_up: 'warming up',
  discarded: 'measured, but not counted',
  counted: 'counted',
};

/** A limit further above what was measured than this would press the measured line to the ground. */
const LIMIT_FACTOR = 3;
const PANEL = 150;
/** Pixels between panels. */
export const GAP = 46;

export interface Point {
  seconds: number;
  iops: number;
  bytes: number;
  p50: number | null;
  p99: number | null;
  part: Stretch['part'];
}

export function pointsOf(rates: Rates): Point[] {
  return rates.stretches.flatMap((stretch) =>
    stretch.t_ms.map((ms, index) => ({
      seconds: ms / 1000,
      iops: stretch.iops[index],
      bytes: stretch.bytes_per_second[index],
      p50: stretch.p50_us[index] ?? null,
      p99: stretch.p99_us[index] ?? null,
      part: stretch.part,
    })),
  );
}

/** When a stretch began and ended, in seconds: its points are the middles of equal times. */
export function extent(stretch: Stretch, secondsAPoint: number): [number, number] {
  const times = stretch.t_ms;
  const apart = times.length > 1 ? (times[1] - times[0]) / 1000 : secondsAPoint;
  const half = Math.min(apart, Math.max(secondsAPoint, 1)) / 2;
  return [Math.max(0, times[0] / 1000 - half), times[times.length - 1] / 1000 + half];
}

/** When each stretch began and ended; where two would overlap, the one ends where the other begins. */
export function extentsOf(stretches: Stretch[], secondsAPoint: number): [number, number][] {
  const extents = stretches.map((stretch) => extent(stretch, secondsAPoint));
  for (let index = 1; index < extents.length; index++) {
    const [before, now] = [extents[index - 1], extents[index]];
    if (before[1] > now[0]) before[1] = now[0] = (before[1] + now[0]) / 2;
  }
  return extents;
}

export function hasLatencies(rates: Rates): boolean {
  return rates.stretches.some((stretch) => stretch.p99_us.some((value) => value !== null && value > 0));
}

export function hasBytes(rates: Rates): boolean {
  return rates.stretches.some((stretch) => stretch.bytes_per_second.some((value) => value > 0));
}

export function panelsOf(rates: Rates): Panel[] {
  const panels: Panel[] = [{ key: 'iops', name: 'IOPS' }];
  if (hasBytes(rates)) panels.push({ key: 'bytes', name: 'MB/s' });
  if (hasLatencies(rates)) panels.push({ key: 'latency', name: 'latency, median to p99' });
  return panels;
}

/** Pixels of a panel: on paper lower, so that the charts of a load fit on a page. */
export function panelHeight(context: ChartContext): number {
  return context.print ? 96 : PANEL;
}

export function ratesHeight(rates: Rates, context: ChartContext): number {
  return 30 + panelsOf(rates).length * (panelHeight(context) + GAP) + (context.print ? 0 : 30);
}

/** The most that was measured. */
export function peak(rates: Rates, key: 'iops' | 'bytes'): number {
  const lists = rates.stretches.map((stretch) => (key === 'iops' ? stretch.iops : stretch.bytes_per_second));
  return lists.flat().reduce((a, b) => Math.max(a, b), 0);
}

/** Limits that the chart has room for, and those that it has not. */
export function limitsOf(rates: Rates, key: 'iops' | 'bytes'): Record<'shown' | 'beyond', [string, number][]> {
  const most = peak(rates, key);
  const all = rates.limits.flatMap((limit): [string, number][] => {
    const value = key === 'iops' ? limit.iops : limit.bytes_per_second;
    return value === null ? [] : [[limit.name, value]];
  });
  const fits = ([, value]: [string, number]) => value <= most * LIMIT_FACTOR;
  return { shown: all.filter(fits), beyond: all.filter((limit) => !fits(limit)) };
}

/** A latency that is known in microseconds. */
export function us(value: number): string {
  return latency(value * 1000);
}

export function ratesTable(rates: Rates): Table {
  const rows = pointsOf(rates).map((point) => [
    timeLabel(point.seconds),
    PART_NAMES[point.part],
    iops(point.iops),
    throughput(point.bytes),
    orAbsent(point.p50, us),
    orAbsent(point.p99, us),
  ]);
  return tableOf(rates.title, ['time', 'part', 'IOPS', 'MB/s', 'p50', 'p99'], rows, [0, 2, 3, 4, 5]);
}

/** What limits are not drawn, in a sentence. */
export function beyondText(rates: Rates): string | null {
  const texts = [
    ...limitsOf(rates, 'iops').beyond.map(([name, value]) => `${name} (${iops(value)} IOPS)`),
    ...limitsOf(rates, 'bytes').beyond.map(([name, value]) => `${name} (${throughput(value)} MB/s)`),
  ];
  return texts.length > 0 ? `Far above what is drawn: ${texts.join(', ')}.` : null;
}

/** The window that the verdict speaks of, in words. */
export function windowText(rates: Rates): string | null {
  if (!rates.window_ms) return null;
  const [from, to] = rates.window_ms.map((ms) => Number(ms) / 1000);
  return `${timeLabel(from)} to ${timeLabel(to)}`;
}
