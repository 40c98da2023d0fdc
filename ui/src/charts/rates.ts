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

/** Below so many seconds in all, moments have fractions. */
export const SHORT = 8;

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

/** When a stretch began and ended, in seconds. */
export function extent(stretch: Stretch): [number, number] {
  return [stretch.begin_ms / 1000, stretch.end_ms / 1000];
}

/** When the first of stretches began, and the last one ended. */
export function wholeExtent(stretches: Stretch[]): [number, number] {
  const extents = stretches.map(extent);
  return [Math.min(...extents.map((one) => one[0])), Math.max(...extents.map((one) => one[1]))];
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
  const [from, to] = wholeExtent(rates.stretches);
  const rows = pointsOf(rates).map((point) => [
    timeLabel(point.seconds, to - from < SHORT),
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
