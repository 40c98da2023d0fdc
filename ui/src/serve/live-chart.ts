// The rates and the latency of a run that is going on, over time: a line for each of its workloads.
import { numberAxes, PANEL_LEFT, timeAxes, type Panel } from '../charts/panels';
import { logTicks, timeLabel } from '../charts/scale';
import { base, colour, dash, legend } from '../lib/series';
import { iops, latency, moment, orAbsent, throughput } from '../lib/numbers';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Table } from '../report';
import { hasGap, type LiveCell, type LiveSecond } from './live';

const PANEL = 110;
const GAP = 40;
/** The axis shows at least so many seconds, so that it does not begin with a moment. */
const SECONDS_MIN = 10;

const PANELS: (Panel & { value: (point: LiveSecond) => number | null })[] = [
  { key: 'iops', name: 'IOPS', value: (point) => point.iops },
  { key: 'bytes', name: 'MB/s', value: (point) => point.bytes_per_second },
  { key: 'latency', name: 'p99 latency', value: (point) => (point.p99_ns ? point.p99_ns / 1e3 : null) },
];

interface Line {
  cell: number;
  label: string;
  points: LiveSecond[];
}

/** The workloads that have points, each with its own. */
export function linesOf(cells: LiveCell[], points: LiveSecond[]): Line[] {
  const lines = cells.map((cell, index) => ({ cell: index, label: cell.label, points: [] as LiveSecond[] }));
  for (const point of points) lines[point.cell]?.points.push(point);
  return lines.filter((line) => line.points.length > 0);
}

const middle = (point: LiveSecond) => (point.t_ns + point.length_ns / 2) / 1e9;

/** Positions and values; nothing in between where there was no load. */
export function dataOf(points: LiveSecond[], value: (point: LiveSecond) => number | null): [number, number | null][] {
  return points.flatMap((point, index): [number, number | null][] => {
    const before = points[index - 1];
    const here: [number, number | null] = [middle(point), value(point)];
    return before && hasGap(before, point) ? [[point.t_ns / 1e9, null], here] : [here];
  });
}

function headOf(lines: Line[], context: ChartContext): number {
  return lines.length > 1 ? legend(context, lines.map((line) => line.label)).height + 8 : 0;
}

export function liveHeight(cells: LiveCell[], points: LiveSecond[], context: ChartContext): number {
  return headOf(linesOf(cells, points), context) + 24 + PANELS.length * (PANEL + GAP);
}

export function liveOption(cells: LiveCell[], points: LiveSecond[], context: ChartContext, description: string) {
  const lines = linesOf(cells, points);
  const general = base(context, description);
  const head = headOf(lines, context);
  const tops = PANELS.map((_, index) => head + 24 + index * (PANEL + GAP));
  const from = points.length > 0 ? points[0].t_ns / 1e9 : 0;
  const end = points.reduce((latest, point) => Math.max(latest, point.t_ns + point.length_ns), 0) / 1e9;
  const to = Math.max(end, from + SECONDS_MIN);
  const latencies = logTicks(points.flatMap((point) => (point.p99_ns ? [point.p99_ns / 1e3] : [])), 5);
  return {
    ...general,
    legend: lines.length > 1 ? legend(context, lines.map((line) => line.label)).option : undefined,
    grid: tops.map((top) => ({ left: PANEL_LEFT, right: 14, top, height: PANEL, outerBoundsMode: 'none' })),
    axisPointer: { link: [{ xAxisIndex: 'all' }], lineStyle: { color: context.tokens['rule-strong'] } },
    tooltip: {
      ...general.tooltip,
      trigger: 'axis',
      formatter: (params: unknown) => {
        const list = params as { axisValue: number }[];
        return list[0] ? pointTip(lines, Number(list[0].axisValue)) : '';
      },
    },
    xAxis: timeAxes(PANELS, from, to, context),
    yAxis: numberAxes(PANELS, latencies, context, 3),
    series: PANELS.flatMap(({ value }, grid) =>
      lines.map(({ cell, label, points: own }) => ({
        type: 'line',
        name: label,
        silent: true,
        xAxisIndex: grid,
        yAxisIndex: grid,
        showSymbol: own.length < 3,
        symbolSize: 5,
        connectNulls: false,
        lineStyle: { color: colour(context, cell), type: dash(cell), width: 1.5 },
        itemStyle: { color: colour(context, cell) },
        data: dataOf(own, value),
      })),
    ),
  };
}

function pointTip(lines: Line[], seconds: number): HTMLElement {
  const texts = lines.flatMap(({ label, points }) => {
    const point = points.find((each) => each.t_ns / 1e9 <= seconds && seconds <= (each.t_ns + each.length_ns) / 1e9);
    return point ? [`${label}: ${numbersOf(point).join(', ')}${point.measured ? '' : ' (warming up)'}`] : [];
  });
  return tip(timeLabel(seconds), texts);
}

function numbersOf(point: LiveSecond): string[] {
  const rates = [`${iops(point.iops)} IOPS`, `${throughput(point.bytes_per_second)} MB/s`];
  return point.p99_ns === null ? rates : [...rates, `p99 ${latency(point.p99_ns)}`];
}

/** The points as a table. */
export function liveTable(title: string, started: string, points: LiveSecond[]): Table {
  const heads = ['since the start', 'workload', 'IOPS', 'MB/s', 'p99', 'counts'];
  const rows = points.map((point) => [
    timeLabel(point.t_ns / 1e9),
    point.label,
    iops(point.iops),
    throughput(point.bytes_per_second),
    orAbsent(point.p99_ns, latency),
    point.measured ? 'yes' : 'warming up',
  ]);
  return tableOf(`${title}, begun ${moment(started)}`, heads, rows, [2, 3, 4]);
}
