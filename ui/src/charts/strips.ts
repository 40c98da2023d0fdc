// How long a command took on each side: a dot for each time, and a line at the mean.
import type { RenderItem } from '../lib/echarts';
import { axis, base, colour, shape } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Iterations, Table } from '../report';
import { meanSeconds, secondsText, shortSeconds } from './iterations';
import { timeStep } from './scale';

export interface NamedIterations {
  /** What is written beside its row. */
  name: string;
  iterations: Iterations;
  colour: number;
}

const ROW = 40;
const LEFT = 30;

/** `A 3h 14m, B 3h 16m on average`. */
export function stripsTitle(load: string, sides: NamedIterations[]): string {
  const means = sides.map((side) => `${side.name} ${secondsText(meanSeconds(side.iterations.iterations))}`);
  return `${load}: ${means.join(', ')} on average`;
}

export function stripsHeight(sides: NamedIterations[]): number {
  return sides.length * ROW + 54;
}

export function stripsOption(sides: NamedIterations[], context: ChartContext, description: string) {
  const look = axis(context);
  const general = base(context, description);
  const means = sides.map((side) => meanSeconds(side.iterations.iterations));
  const all = sides.flatMap((side) => side.iterations.iterations.map((one) => one.seconds));
  const most = all.reduce((a, b) => Math.max(a, b), 0.001);
  const renderItem: RenderItem = (params, api) => {
    const side = sides[params.dataIndex];
    const [x, y] = api.coord([means[params.dataIndex], params.dataIndex]);
    const style = { stroke: colour(context, side.colour), lineWidth: 2.5, fill: undefined };
    return { type: 'line', shape: { x1: x, y1: y - 13, x2: x, y2: y + 13 }, style };
  };
  return {
    ...general,
    grid: { left: LEFT, right: 24, top: 8, bottom: 44, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'item',
      formatter: (params: unknown) => {
        const { seriesIndex, dataIndex } = params as { seriesIndex: number; dataIndex: number };
        const side = sides[seriesIndex];
        const one = side?.iterations.iterations[dataIndex];
        return one ? tip(`${side.name}, time ${dataIndex + 1}`, [secondsText(one.seconds)]) : '';
      },
    },
    xAxis: {
      ...look,
      type: 'value',
      min: 0,
      interval: timeStep(most, context.narrow ? 3 : 7),
      name: 'time; less is better',
      nameLocation: 'middle',
      nameGap: 26,
      axisLabel: { ...look.axisLabel, formatter: shortSeconds, hideOverlap: true },
    },
    yAxis: {
      ...look,
      type: 'category',
      inverse: true,
      data: sides.map((side) => side.name),
      axisTick: { show: false },
      axisLabel: { ...look.axisLabel, color: context.tokens.text, fontWeight: 600, interval: 0 },
    },
    series: [
      ...sides.map((side, row) => ({
        type: 'scatter',
        symbol: shape(side.colour),
        symbolSize: 9,
        z: 3,
        data: side.iterations.iterations.map((one) => ({
          value: [one.seconds, row],
          itemStyle: {
            color: one.is_counted ? colour(context, side.colour) : context.tokens.surface,
            borderColor: colour(context, side.colour),
            borderWidth: 1.2,
            opacity: 0.85,
          },
        })),
      })),
      {
        type: 'custom',
        renderItem,
        silent: true,
        tooltip: { show: false },
        z: 2,
        encode: { x: 0, y: 1 },
        data: means.map((mean, row) => [mean, row]),
      },
    ],
  };
}

export function stripsTable(title: string, sides: NamedIterations[]): Table {
  const rows = sides.flatMap((side) =>
    side.iterations.iterations.map((one, index) => [
      side.name, String(index + 1), secondsText(one.seconds), one.is_counted ? 'yes' : 'no',
    ]),
  );
  return tableOf(title, ['side', 'iteration', 'time', 'counted'], rows, [1, 2]);
}
