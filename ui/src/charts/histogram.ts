// How many operations took how long: a panel for each kind of operation, on one axis of latency.
import type { RenderItem } from '../lib/echarts';
import { count, percent } from '../lib/numbers';
import { axis, base, colour } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { LatencyCurve, Table } from '../report';
import { us } from './rates';
import { logTicks, shortLatency } from './scale';

const GAP = 40;

/** Pixels of a panel: a single one is as high as the curves that stand beside it. */
function panelHeight(panels: number): number {
  return panels === 1 ? 246 : 130;
}

export interface HistogramClass {
  from: number;
  to: number;
  share: number;
  operations: number;
}

/** The classes with both ends. Those that nothing fell into are not told, so a class is at most as wide as others. */
export function classesOf(curve: LatencyCurve): HistogramClass[] {
  const pairs = curve.histogram as [number, number][];
  const total = pairs.reduce((sum, pair) => sum + pair[1], 0);
  const ratios = pairs.slice(1).map((pair, index) => pair[0] / pairs[index][0]).sort((a, b) => a - b);
  const usual = Math.max(ratios[Math.floor(ratios.length / 2)] ?? 1.2, 1.01);
  return pairs
    .map(([to, operations], index) => ({
      from: Math.max(pairs[index - 1]?.[0] ?? 0, to / (usual * 1.05)),
      to,
      share: total > 0 ? operations / total : 0,
      operations,
    }))
    .filter((one) => one.operations > 0 && one.to > 0);
}

export function withHistograms(curves: LatencyCurve[]): LatencyCurve[] {
  return curves.filter((curve) => classesOf(curve).length > 1);
}

/** Between which latencies nine of ten operations lie, of the kind that there are most of. */
export function histogramTitle(curves: LatencyCurve[]): string {
  const all = withHistograms(curves).map((curve) => ({ curve, classes: classesOf(curve) }));
  const total = (one: { classes: HistogramClass[] }) => one.classes.reduce((sum, each) => sum + each.operations, 0);
  const most = all.reduce((a, b) => (total(b) > total(a) ? b : a));
  let below = 0;
  const ends = most.classes.map((one) => ({ ...one, below: (below += one.share) }));
  const low = ends.find((one) => one.below >= 0.05) ?? ends[0];
  const high = ends.find((one) => one.below >= 0.95) ?? ends[ends.length - 1];
  const n = count(total(most));
  return `90 % of ${n} ${most.curve.operation} operations took ${us(low.from)} to ${us(high.to)}`;
}

export function histogramHeight(curves: LatencyCurve[]): number {
  const panels = withHistograms(curves).length;
  return 36 + panels * (panelHeight(panels) + GAP);
}

export function histogramOption(curves: LatencyCurve[], context: ChartContext, description: string, colourIndex = 0) {
  const panels = withHistograms(curves).map((curve) => ({ curve, classes: classesOf(curve) }));
  const ends = panels.flatMap((panel) => panel.classes.flatMap((one) => [one.from, one.to]));
  const { min, max, ticks } = logTicks(ends, context.narrow ? 5 : 8);
  const height = panelHeight(panels.length);
  const look = axis(context);
  const general = base(context, description);
  const fill = colour(context, colourIndex);
  return {
    ...general,
    grid: panels.map((_, index) => ({
      left: 58, right: 24, top: 30 + index * (height + GAP), height, outerBoundsMode: 'none',
    })),
    tooltip: {
      ...general.tooltip,
      trigger: 'item',
      formatter: (params: unknown) => {
        const { seriesIndex, dataIndex } = params as { seriesIndex: number; dataIndex: number };
        const one = panels[seriesIndex].classes[dataIndex];
        return tip(`${us(one.from)} to ${us(one.to)}`, [`${count(one.operations)} operations`, percent(one.share)]);
      },
    },
    xAxis: panels.map((_, grid) => ({
      ...look,
      type: 'log',
      gridIndex: grid,
      min,
      max,
      splitLine: { show: false },
      name: grid === panels.length - 1 ? 'latency' : '',
      nameLocation: 'middle',
      nameGap: 26,
      axisTick: { ...look.axisTick, customValues: ticks },
      axisLabel: { ...look.axisLabel, customValues: ticks, formatter: shortLatency },
    })),
    yAxis: panels.map((panel, grid) => ({
      ...look,
      type: 'value',
      gridIndex: grid,
      min: 0,
      splitNumber: 3,
      name: `${panel.curve.operation}: share of operations`,
      nameGap: 9,
      nameTextStyle: { ...look.nameTextStyle, align: 'left', padding: [0, 0, 0, -50] },
      axisLabel: { ...look.axisLabel, formatter: (value: number) => percent(value) },
    })),
    series: panels.map((panel, grid) => {
      const renderItem: RenderItem = (params, api) => {
        const one = panel.classes[params.dataIndex];
        const [left, top] = api.coord([one.from, one.share]);
        const [right, bottom] = api.coord([one.to, 0]);
        const width = Math.max(1, right - left - 0.5);
        return { type: 'rect', shape: { x: left, y: top, width, height: bottom - top }, style: { fill } };
      };
      return {
        type: 'custom',
        xAxisIndex: grid,
        yAxisIndex: grid,
        renderItem,
        encode: { x: [0, 1], y: 2 },
        data: panel.classes.map((one) => [one.from, one.to, one.share]),
      };
    }),
  };
}

export function histogramTable(title: string, curves: LatencyCurve[]): Table {
  const rows = withHistograms(curves).flatMap((curve) =>
    classesOf(curve).map((one) => [curve.operation, us(one.to), count(one.operations), percent(one.share)]),
  );
  return tableOf(title, ['operation', 'at most', 'operations', 'share'], rows, [1, 2, 3]);
}
