// Latency distributions as curves, on an axis on which the rare has as much room as the common.
import type { CustomSeriesOption, RenderItem } from '../lib/echarts';
import { count, orAbsent } from '../lib/numbers';
import { axis, base, colour, dash, legend, shape } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { LatencyCurve, Table } from '../report';
import { listed } from '../lib/words';
import { us } from './rates';
import { logTicks, percentileLabel, percentilePlace, shortLatency } from './scale';

/** A curve with what it is called and what it looks like. */
export interface NamedCurve {
  name: string;
  curve: LatencyCurve;
  /** The colour. */
  colour: number;
  /** The dash and shape; two curves of one colour have different ones. */
  look: number;
}

const PLACES = [2, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
/** Pixels that a label of the axis needs, the longest one with a little air. */
const LABEL = 68;

interface Spot {
  place: number;
  percent: number;
  us: number;
  isAtLeast: boolean;
  low: number | null;
  high: number | null;
}

/** The points that have a place on the axis: the longest of all has none, and the quicker half is not drawn. */
export function spotsOf(curve: LatencyCurve): Spot[] {
  return curve.percentiles
    .filter((point) => point.percent >= 50 && point.percent < 100 && point.latency_us > 0)
    .map((point) => ({
      place: percentilePlace(point.percent),
      percent: point.percent,
      us: point.latency_us,
      isAtLeast: point.is_at_least ?? false,
      low: point.interval_us ? (point.interval_us[0] as number) : null,
      high: point.interval_us ? (point.interval_us[1] as number | null) : null,
    }));
}

/** Whether there is enough to draw a curve. */
export function hasCurves(curves: LatencyCurve[]): boolean {
  return curves.some((curve) => spotsOf(curve).length > 1);
}

/** Vertical lines over the intervals of percentiles. Where the upper end is open, they go to the top. */
function intervals(spots: Spot[], top: number, color: string): CustomSeriesOption {
  const known = spots.filter((spot) => spot.low !== null);
  const renderItem: RenderItem = (params, api) => {
    const spot = known[params.dataIndex];
    const [x, below] = api.coord([spot.place, spot.low ?? spot.us]);
    const above = api.coord([spot.place, spot.high ?? top])[1];
    const style = { stroke: color, lineWidth: 1, opacity: 0.75, fill: undefined };
    const edge = (y: number) => ({ type: 'line' as const, shape: { x1: x - 3, y1: y, x2: x + 3, y2: y }, style });
    return {
      type: 'group',
      children: [
        { type: 'line', shape: { x1: x, y1: below, x2: x, y2: above }, style },
        edge(below),
        ...(spot.high === null ? [] : [edge(above)]),
      ],
    };
  };
  return {
    type: 'custom',
    renderItem,
    silent: true,
    clip: true,
    tooltip: { show: false },
    encode: { x: 0, y: 1 },
    data: known.map((spot) => [spot.place, spot.us]),
  };
}

/** A percentile in a text that says at most; what may be longer than was measured says so. */
function percentileText(value: number, isAtLeast: boolean): string {
  return isAtLeast ? `≥ ${us(value)}` : us(value);
}

/** `job: 99 % of reads take at most 1.2 ms on A and 4 ms on B`, of the first kind of operation; null of too many. */
export function curvesTitle(label: string, curves: NamedCurve[]): string | null {
  const operation = curves[0]?.curve.operation;
  const told = curves.flatMap(({ name, curve }) => {
    const point = curve.operation === operation ? curve.percentiles.find((one) => one.percent === 99) : undefined;
    const text = `${us(point?.latency_us ?? 0)} on ${name.replace(` ${operation}`, '')}`;
    return point ? [{ text, isAtLeast: point.is_at_least ?? false }] : [];
  });
  if (told.length < 2 || told.length > 4) return null;
  const of = (isAtLeast: boolean) => listed(told.filter((one) => one.isAtLeast === isAtLeast).map((one) => one.text));
  const parts = [
    of(false) && `99 % of ${operation}s take at most ${of(false)}`,
    of(true) && `p99 of ${operation}s is at least ${of(true)}`,
  ];
  return `${label}: ${parts.filter((part) => part !== '').join('; ')}`;
}

export function latenciesHeight(curves: NamedCurve[], context: ChartContext): number {
  return legend(context, curves.map((curve) => curve.name)).height + 300;
}

export function latenciesOption(curves: NamedCurve[], context: ChartContext, description: string) {
  const named = curves
    .map((curve) => ({ ...curve, spots: spotsOf(curve.curve) }))
    .filter((one) => one.spots.length > 0);
  const legends = legend(context, named.map((one) => one.name));
  const all = named.flatMap((one) => one.spots);
  const ends = all.flatMap((spot) => [spot.us, spot.low ?? spot.us, spot.high ?? spot.us]);
  const { min, max, ticks } = logTicks(ends, 7);
  const last = all.reduce((most, spot) => Math.max(most, spot.place), 10);
  const end = PLACES.find((place) => place >= last) ?? last;
  const shown = PLACES.filter((place) => place <= end);
  const every = Math.max(1, Math.ceil((shown.length * LABEL) / Math.max(LABEL, context.width - 60)));
  const labelled = shown.filter((_, index) => index % every === 0);
  const look = axis(context);
  const general = base(context, description);
  return {
    ...general,
    legend: legends.option,
    grid: { left: 62, right: 34, top: legends.height + 30, bottom: 46, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'axis',
      axisPointer: { lineStyle: { color: context.tokens['rule-strong'] } },
      formatter: (params: unknown) => {
        const list = params as { seriesName: string; value: [number, number] }[];
        const lines = list.flatMap((one) => {
          const curve = named.find((named) => named.name === one.seriesName);
          const spot = curve?.spots.find((spot) => spot.place === one.value[0]);
          return curve ? [`${one.seriesName}: ${percentileText(one.value[1], spot?.isAtLeast ?? false)}`] : [];
        });
        return list[0] ? tip(`${percentileLabel(list[0].value[0])} take at most`, [...new Set(lines)]) : '';
      },
    },
    xAxis: {
      ...look,
      type: 'log',
      min: shown[0],
      max: end,
      name: 'share of operations that take at most so long',
      nameLocation: 'middle',
      nameGap: 28,
      axisTick: { ...look.axisTick, customValues: shown },
      axisLabel: {
        ...look.axisLabel,
        customValues: labelled,
        formatter: percentileLabel,
        fontSize: context.narrow ? 11 : 12,
      },
    },
    yAxis: {
      ...look,
      type: 'log',
      min,
      max,
      name: 'latency',
      nameGap: 10,
      nameTextStyle: { ...look.nameTextStyle, align: 'left', padding: [0, 0, 0, -54] },
      axisTick: { ...look.axisTick, customValues: ticks },
      axisLabel: { ...look.axisLabel, customValues: ticks, formatter: shortLatency },
    },
    series: [
      ...named.map((one) => ({
        type: 'line',
        name: one.name,
        showSymbol: true,
        symbol: shape(one.look),
        symbolSize: 5,
        lineStyle: { color: colour(context, one.colour), type: dash(one.look), width: 1.8 },
        itemStyle: { color: colour(context, one.colour) },
        data: one.spots.map((spot) => [spot.place, spot.us]),
        z: 3,
      })),
      ...named.map((one) => intervals(one.spots, max, colour(context, one.colour))),
    ],
  };
}

export function latenciesTable(title: string, curves: NamedCurve[]): Table {
  const rows = curves.flatMap(({ name, curve }) =>
    curve.percentiles.map((point) => [
      name,
      `${point.percent} %`,
      percentileText(point.latency_us, point.is_at_least ?? false),
      point.interval_us ? us(point.interval_us[0] as number) : '-',
      point.interval_us ? orAbsent(point.interval_us[1] as number | null, us) : '-',
      orAbsent(curve.operations, count),
    ]),
  );
  return tableOf(title, ['curve', 'share', 'at most', '95 % from', '95 % to', 'operations'], rows, [1, 2, 3, 4, 5]);
}
