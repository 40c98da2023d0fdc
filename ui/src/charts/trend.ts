// A rate of the same load over runs: points with their intervals, a band where the runs since the last change lie, a
// line where the rate changed beyond chance, and a letter where the machine or its software was another.
import type { CustomSeriesOption, LineSeriesOption } from '../lib/echarts';
import { ABSENT, iops, latency, moment, orAbsent, percent, ratio } from '../lib/numbers';
import { axis as axisStyle, base, halo, MARK_LINE } from '../lib/series';
import { tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Change, Table, Trend, TrendPoint } from '../report';

/** The word of numbers that may be claimed. */
const STEADY = 'steady';
/** More runs than these have smaller marks. */
const MANY = 40;
const DAY_MS = 86_400_000;
/** Half of the longest label of the axis of times, `09:38:16 500`: it may stand at the very end. */
const LAST_LABEL = 40;

/** How high the chart is. */
export const TREND_HEIGHT = 280;

/** Runs at which something else than the storage changed, each with the letter that the chart shows. */
export function environments(trend: Trend): { letter: string; point: TrendPoint; index: number }[] {
  const all = trend.points.map((point, index) => ({ point, index }));
  const changed = all.filter((at) => (at.point.environment?.length ?? 0) > 0);
  return changed.map((at, order) => ({ ...at, letter: letter(order) }));
}

/** Whether a run is one that later ones are compared with. */
export function isBaseline(point: TrendPoint): boolean {
  return (point.baselines?.length ?? 0) > 0;
}

/** `a` to `z`, then `aa`. */
function letter(order: number): string {
  const last = String.fromCharCode(97 + (order % 26));
  return order < 26 ? last : letter(Math.floor(order / 26) - 1) + last;
}

/** The ends of the axis of rates, and whether it begins at nought: it does unless all rates are close together. */
export function rateAxis(trend: Trend): { min: number; max: number; fromZero: boolean } {
  const values = trend.points.flatMap((point) => [point.iops, ...(point.interval ?? [])]).concat(trend.band ?? []);
  if (values.length === 0) return { min: 0, max: 1, fromZero: true };
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (low < high * 0.5) return { min: 0, max: high * 1.12, fromZero: true };
  const room = Math.max((high - low) * 0.25, high * 0.02);
  return { min: Math.max(0, low - room), max: high + room, fromZero: false };
}

/** What a change is in short: `▼ -12 %`, `▲ 2.30x`; without a ratio when one side did nothing. */
export function changeLabel(change: Change): string {
  if (change.ratio === null) return '! stopped or back';
  const icon = change.ratio < 1 ? '▼' : '▲';
  if (change.ratio >= 2 || change.ratio <= 0.5) return `${icon} ${ratio(change.ratio)}x`;
  const share = change.ratio - 1;
  return `${icon} ${share < 0 ? '-' : '+'}${percent(Math.abs(share))}`;
}

/** Where the line of a change stands: between the last run before it and the first one after it. */
export function changeTime(trend: Trend, change: Change): number | null {
  const at = trend.points[change.at];
  if (!at) return null;
  const before = trend.points[change.at - 1] ?? at;
  return (time(before) + time(at)) / 2;
}

/** A corner of the band. */
interface Corner {
  xAxis: number;
  yAxis: number;
}

/** Two corners of the band: it begins with the run of the last change. */
export function bandCorners(trend: Trend): [Corner, Corner] | null {
  const first = trend.points[trend.changes.at(-1)?.at ?? 0];
  const last = trend.points.at(-1);
  if (!first || !last || !trend.band) return null;
  const [from, to] = [time(first), time(last)];
  const pad = timePad(trend) / 2;
  return [
    { xAxis: from - pad, yAxis: trend.band[0] },
    { xAxis: to + pad, yAxis: trend.band[1] },
  ];
}

/** The chart. */
export function trendOption(trend: Trend, context: ChartContext, description: string) {
  const { narrow, palette } = context;
  const axis = rateAxis(trend);
  const style = axisStyle(context);
  const pad = timePad(trend);
  const times = trend.points.map(time);
  return {
    ...base(context, description),
    grid: { left: narrow ? 52 : 64, right: LAST_LABEL, top: 44, bottom: narrow ? 46 : 50, outerBoundsMode: 'none' },
    xAxis: {
      ...style,
      type: 'time',
      min: Math.min(...times) - pad,
      max: Math.max(...times) + pad,
      name: 'date of the run (UTC)',
      nameLocation: 'middle',
      nameGap: 28,
      splitLine: { show: false },
      axisLabel: { ...style.axisLabel, hideOverlap: true, showMinLabel: false, showMaxLabel: false },
      splitNumber: narrow ? 3 : 6,
    },
    yAxis: {
      ...style,
      type: 'value',
      min: axis.min,
      max: axis.max,
      name: axis.fromZero ? trend.unit : `${trend.unit}, not from 0`,
      nameTextStyle: { ...style.nameTextStyle, align: 'left', padding: [0, 0, 0, narrow ? -44 : -56] },
      axisLabel: {
        ...style.axisLabel,
        formatter: (value: number) => iops(value),
        showMinLabel: axis.fromZero,
        showMaxLabel: false,
      },
      splitNumber: 4,
    },
    useUTC: true,
    series: [points(trend, context), whiskers(trend, palette[0]), letters(trend, axis.min, context)],
  };
}

/** The runs, with the band and the changes. */
function points(trend: Trend, context: ChartContext): LineSeriesOption {
  const { tokens, palette } = context;
  const isMany = trend.points.length > MANY;
  const band = bandCorners(trend);
  const changes = trend.changes.flatMap((change) => {
    const at = changeTime(trend, change);
    return at === null ? [] : [{ xAxis: at, label: { formatter: changeLabel(change) } }];
  });
  return {
    id: 'runs',
    type: 'line',
    data: trend.points.map((point) => ({
      value: [time(point), point.iops],
      label: {
        show: isBaseline(point),
        position: 'top',
        formatter: (point.baselines ?? []).join(', '),
        color: tokens.text,
        ...halo(context),
      },
      symbol: point.word === STEADY ? 'circle' : 'diamond',
      symbolSize: (point.word === STEADY ? 8 : 12) - (isMany ? 4 : 0),
      itemStyle:
        point.word === STEADY
          ? { color: palette[0] }
          : { color: tokens.surface, borderColor: palette[0], borderWidth: isMany ? 1.5 : 2 },
    })),
    showAllSymbol: true,
    lineStyle: { color: palette[0], width: 1, opacity: 0.6 },
    itemStyle: { color: palette[0] },
    z: 4,
    tooltip: { formatter: (at: unknown) => pointTip(trend, (at as { dataIndex: number }).dataIndex) },
    markArea: {
      silent: true,
      itemStyle: { color: palette[0], opacity: 0.14 },
      data: band ? [band] : [],
    },
    markLine: {
      ...MARK_LINE,
      lineStyle: { color: tokens.text, type: 'dashed', width: 1.5 },
      label: { color: tokens.text, position: 'end', fontSize: 12, fontWeight: 'bold' },
      data: changes,
    },
  };
}

/** The 95 % intervals. */
function whiskers(trend: Trend, colour: string): CustomSeriesOption {
  const isMany = trend.points.length > MANY;
  const cap = isMany ? 2 : 4;
  const known = trend.points.flatMap((point) => (point.interval ? [[time(point), ...point.interval]] : []));
  return {
    id: 'intervals',
    type: 'custom',
    silent: true,
    z: 3,
    data: known,
    encode: { x: 0, y: [1, 2] },
    renderItem: (_params, api) => {
      const [x, low] = api.coord([api.value(0), api.value(1)]);
      const [, high] = api.coord([api.value(0), api.value(2)]);
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        type: 'line' as const,
        shape: { x1, y1, x2, y2 },
        style: { stroke: colour, lineWidth: isMany ? 1 : 1.5, opacity: isMany ? 0.6 : 1 },
      });
      return {
        type: 'group',
        children: [line(x, low, x, high), line(x - cap, low, x + cap, low), line(x - cap, high, x + cap, high)],
      };
    },
  };
}

/** Letters where the environment changed, at the foot of the chart. */
function letters(trend: Trend, foot: number, context: ChartContext): LineSeriesOption {
  const { tokens } = context;
  return {
    id: 'environment',
    type: 'line',
    lineStyle: { width: 0, opacity: 0 },
    symbol: 'triangle',
    symbolSize: 10,
    showAllSymbol: true,
    silent: true,
    itemStyle: { color: tokens.text },
    label: {
      show: true,
      position: 'top',
      distance: 2,
      color: tokens.text,
      fontWeight: 'bold',
      ...halo(context),
      formatter: (at) => at.name,
    },
    data: environments(trend).map(({ letter: name, point }) => ({ name, value: [time(point), foot] })),
    z: 5,
  };
}

/** All numbers of a trend. */
export function trendTable(trend: Trend, nameOf: (run: string) => string): Table {
  const marks = new Map(environments(trend).map((at) => [at.index, at.letter]));
  const column = (head: string, isNumber: boolean, value: (point: TrendPoint, index: number) => string) => ({
    head,
    is_number: isNumber,
    values: trend.points.map(value),
  });
  const interval = ([low, high]: [number, number]) => `${iops(low)} to ${iops(high)}`;
  return {
    title: trend.title,
    columns: [
      column('date', false, (point) => moment(point.started)),
      column('run', false, (point) => nameOf(point.run)),
      column(trend.unit, true, (point) => iops(point.iops)),
      column('95 % interval', true, (point) => (point.interval ? interval(point.interval) : ABSENT)),
      column('p99', true, (point) => orAbsent(point.p99_us, (us) => latency(us * 1000))),
      column('numbers are', false, (point) => point.word),
      ...(trend.points.some(isBaseline)
        ? [column('baseline', false, (point) => (point.baselines ?? []).join(', '))]
        : []),
      column('change', false, (_, index) => {
        const change = trend.changes.find((each) => each.at === index);
        return change ? changeLabel(change) : '';
      }),
      column('environment', false, (point, index) => {
        const mark = marks.get(index);
        return mark ? `${mark}: ${(point.environment ?? []).join('; ')}` : '';
      }),
    ],
  };
}

function time(point: TrendPoint): number {
  return Date.parse(point.started);
}

/** How much room there is beside the first and the last run. */
function timePad(trend: Trend): number {
  const times = trend.points.map(time);
  const span = Math.max(...times) - Math.min(...times);
  return span > 0 ? span * 0.04 : DAY_MS / 2;
}

function pointTip(trend: Trend, index: number): HTMLElement {
  const point = trend.points[index];
  const interval = point.interval ? [`95 % interval ${iops(point.interval[0])} to ${iops(point.interval[1])}`] : [];
  const change = trend.changes.filter((each) => each.at === index).map(changeLabel);
  const baselines = (point.baselines ?? []).map((name) => `baseline ${name}`);
  const lines = [
    `${iops(point.iops)} ${trend.unit}`, ...interval, point.word, ...baselines, ...change, ...(point.environment ?? []),
  ];
  return tip(moment(point.started), lines);
}
