// Files per second of targets and phases, for files of one length: bars with their intervals. Bars that a cache
// answered are hollow and say so. And all numbers of all lengths as a table.
import type { BarSeriesOption, CustomSeriesOption } from '../lib/echarts';
import { ABSENT, bytes, count, iops, latency, orAbsent, throughput } from '../lib/numbers';
import { axis as axisStyle, base } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { FileClass, FilePhaseView, FileRow, Table } from '../report';

/** What is said of numbers that a cache answered. */
export const CACHED = 'page cache';

const ROW = 18;
const BELOW = 46;

/** A line of the chart: a phase of a target, a target over its phases, or room between two targets. */
export interface Line {
  target: string;
  /** Null on a line that has the name of the target alone, or nothing. */
  phase: FilePhaseView | null;
  /** What stands beside it. */
  label: { target: string; phase: string };
}

/** The names of all targets, in the order in which they were found. */
export function targetsOf(classes: readonly FileClass[]): string[] {
  return [...new Set(classes.flatMap((each) => each.rows.map((row) => row.target)))];
}

/** The names of all phases, in the order in which they were found. */
export function phasesOf(classes: readonly FileClass[]): string[] {
  return [...new Set(classes.flatMap((each) => each.rows.flatMap((row) => row.phases.map((phase) => phase.name))))];
}

/** What a target did in a phase. */
export function phaseOf(rows: readonly FileRow[], target: string, phase: string): FilePhaseView | null {
  const own = rows.filter((row) => row.target === target).flatMap((row) => row.phases);
  return own.find((each) => each.name === phase) ?? null;
}

/** A phase of all targets and lengths. */
export function phasesIn(
  classes: readonly FileClass[],
  phase: string,
): { target: string; size: number; view: FilePhaseView }[] {
  return classes.flatMap((each) =>
    targetsOf([each]).flatMap((target) => {
      const view = phaseOf(each.rows, target, phase);
      return view ? [{ target, size: each.size_bytes, view }] : [];
    }),
  );
}

/** The lines of a chart. Where there is little room, the name of a target has its own line. */
export function linesOf(rows: readonly FileRow[], narrow: boolean): Line[] {
  const several = rows.length > 1;
  return rows.flatMap((row, index) => {
    const { target } = row;
    const phases = row.phases.map((phase, at) => ({
      target,
      phase,
      label: { target: several && !narrow && at === 0 ? target : '', phase: phase.name },
    }));
    const head: Line[] = several && narrow ? [{ target, phase: null, label: { target, phase: '' } }] : [];
    const room: Line[] = [{ target, phase: null, label: { target: '', phase: '' } }];
    return [...(several && !narrow && index > 0 ? room : []), ...head, ...phases];
  });
}

/** Where a logarithmic axis begins: at the power of ten below the smallest value. */
export function logFloor(values: readonly number[]): number {
  const low = Math.min(...values.filter((value) => value > 0));
  if (!Number.isFinite(low)) return 1;
  const floor = 10 ** Math.floor(Math.log10(low));
  return floor < low * 0.8 ? floor : floor / 10;
}

/** How high the chart is. */
export function filesHeight(rows: readonly FileRow[], narrow: boolean): number {
  return linesOf(rows, narrow).length * ROW + BELOW + 6;
}

/** The chart of a class of files. */
export function filesOption(rows: FileRow[], isLog: boolean, context: ChartContext, description: string) {
  const { tokens, narrow, width } = context;
  const lines = linesOf(rows, narrow);
  const phaseWidth = 12 + 7 * Math.max(4, ...lines.map((line) => line.label.phase.length));
  const isNamed = rows.length > 1 && !narrow;
  const targetWidth = isNamed ? Math.min(width * 0.3, 16 + 7.5 * Math.max(...rows.map((row) => row.target.length))) : 0;
  const left = phaseWidth + targetWidth + 10;
  const room = lines.some((line) => line.phase?.cached) ? 118 : 56;
  const shown = lines.flatMap((line) => line.phase ?? []);
  const values = shown.flatMap((phase) => [phase.files_per_second, phase.interval?.[1] ?? 0]);
  const plot = Math.max(width - left - 12, room + 40);
  const min = isLog ? logFloor(values) : 0;
  const highest = Math.max(...values, isLog ? min * 10 : 1e-9);
  const max = isLog ? min * (highest / min) ** (plot / (plot - room)) : highest * (plot / (plot - room));
  const style = axisStyle(context);
  return {
    ...base(context, description),
    grid: { left, right: 12, top: 4, bottom: BELOW, outerBoundsMode: 'none' as const },
    xAxis: {
      ...style,
      type: isLog ? ('log' as const) : ('value' as const),
      min,
      max,
      // Bars begin at the axis: without this those of a logarithmic one begin at 1.
      ...(isLog ? { startValue: min } : {}),
      name: isLog ? 'files per second (logarithmic)' : 'files per second',
      nameLocation: 'middle' as const,
      nameGap: 26,
      splitNumber: narrow ? 3 : 5,
      axisLabel: { ...style.axisLabel, hideOverlap: true, showMaxLabel: false, formatter: tick },
    },
    yAxis: {
      type: 'category' as const,
      inverse: true,
      data: lines.map((_, index) => index),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: {
        color: tokens.text,
        interval: 0,
        align: 'left' as const,
        margin: left - 2,
        formatter: (_: string, index: number) => {
          const { target, phase } = lines[index].label;
          if (isNamed) return `{target|${cut(plain(target), (targetWidth - 8) / 7.5)}}{phase|${plain(phase)}}`;
          return target ? `{head|${plain(target)}}` : `{phase|${plain(phase)}}`;
        },
        rich: {
          target: { width: targetWidth, fontWeight: 'bold' as const, color: tokens.text },
          phase: { width: phaseWidth, color: tokens.muted },
          head: { fontWeight: 'bold' as const, color: tokens.text },
        },
      },
    },
    series: [bars(lines, context), whiskers(lines, min, context)],
  };
}

/** Braces have a meaning in labels. */
function plain(text: string): string {
  return text.replaceAll('{', '(').replaceAll('}', ')').replaceAll('|', '/');
}

/** The beginning of a name that is too long. */
function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, Math.max(1, Math.floor(length) - 1))}…` : text;
}

function tick(value: number): string {
  return value >= 1 || value === 0 ? iops(value).replace(/\.0+(?=\D|$)/, '') : String(Number(value.toPrecision(3)));
}

function bars(lines: readonly Line[], context: ChartContext): BarSeriesOption {
  const { tokens, palette } = context;
  const names = [...new Set(lines.flatMap((line) => line.phase?.name ?? []))];
  return {
    id: 'files',
    type: 'bar',
    barWidth: 12,
    z: 2,
    data: lines.map(({ phase }) => {
      if (!phase) return null;
      const colour = palette[names.indexOf(phase.name) % palette.length];
      const hollow = { color: tokens.surface, borderColor: colour, borderWidth: 1.5, borderType: 'dashed' as const };
      return { value: phase.files_per_second, itemStyle: phase.cached ? hollow : { color: colour } };
    }),
    tooltip: {
      formatter: (at: unknown) => lineTip(lines[(at as { dataIndex: number }).dataIndex]),
    },
  };
}

/** What stands beside a bar. */
export function barLabel(phase: FilePhaseView): string {
  return iops(phase.files_per_second) + (phase.cached ? ` ${CACHED}` : '');
}

/** The 95 % intervals, and beyond them the numbers. Where no interval is known both its ends are the number. */
function whiskers(lines: readonly Line[], min: number, context: ChartContext): CustomSeriesOption {
  const ends = ({ files_per_second: rate, interval }: FilePhaseView) =>
    (interval ?? [rate, rate]).map((end) => Math.max(end, min));
  const known = lines.flatMap(({ phase }, index) => (phase ? [{ phase, value: [index, ...ends(phase)] }] : []));
  const { tokens } = context;
  return {
    id: 'intervals',
    type: 'custom',
    silent: true,
    z: 3,
    data: known.map((each) => each.value),
    encode: { x: [1, 2], y: 0 },
    renderItem: (params, api) => {
      const { phase } = known[params.dataIndex];
      const [x1, y] = api.coord([api.value(1), api.value(0)]);
      const [x2] = api.coord([api.value(2), api.value(0)]);
      const line = (from: number, top: number, to: number, bottom: number) => ({
        type: 'line' as const,
        shape: { x1: from, y1: top, x2: to, y2: bottom },
        style: { stroke: tokens.text, lineWidth: 1.5 },
      });
      const marks = [line(x1, y, x2, y), line(x1, y - 3, x1, y + 3), line(x2, y - 3, x2, y + 3)];
      const style = { fill: tokens.text, stroke: tokens.surface, lineWidth: 3, verticalAlign: 'middle' as const };
      const text = { type: 'text' as const, x: x2 + 7, y, style: { ...style, text: barLabel(phase) } };
      return { type: 'group', children: [...(phase.interval ? marks : []), text] };
    },
  };
}

function lineTip({ target, phase }: Line): HTMLElement {
  if (!phase) return tip(target, []);
  return tip(`${target}, ${phase.name}`, [
    `${iops(phase.files_per_second)} files/s`,
    ...(phase.interval ? [`95 % interval ${phase.interval.map(iops).join(' to ')}`] : []),
    ...(phase.bytes_per_second === null ? [] : [`${throughput(phase.bytes_per_second)} MB/s`]),
    ...(phase.p99_us === null ? [] : [`p99 ${latency(phase.p99_us * 1000)}`]),
    ...(phase.cached ? [`${CACHED}: ${phase.cached}`] : []),
  ]);
}

/** All numbers of all lengths; of one phase when it is named. */
export function filesTable(classes: readonly FileClass[], title: string, only?: string): Table {
  const heads = ['target', 'file', 'files', 'phase', 'files/s', '95 % interval', 'MB/s', 'p99', 'answered by'];
  const rows = classes.flatMap((each) =>
    each.rows.flatMap((row) =>
      row.phases.filter((phase) => only === undefined || phase.name === only).map((phase) => [
        row.target,
        bytes(each.size_bytes),
        count(row.files),
        phase.name,
        iops(phase.files_per_second),
        phase.interval ? phase.interval.map(iops).join(' to ') : ABSENT,
        orAbsent(phase.bytes_per_second, throughput),
        orAbsent(phase.p99_us, (us) => latency(us * 1000)),
        phase.cached ? `${CACHED}: ${phase.cached}` : 'storage',
      ]),
    ),
  );
  return tableOf(title, heads, rows, [1, 2, 4, 5, 6, 7]);
}
