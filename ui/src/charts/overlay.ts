// The rates of several sides over time, one line each, on one axis: time since the load began on its side.
import { iops } from '../lib/numbers';
import { axis, base, colour, dash, legend } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Rates, Table } from '../report';
import { dots, line } from './band';
import { extent } from './rates';
import { short, timeLabel, timeStep } from './scale';

export interface NamedRates {
  name: string;
  rates: Rates;
  colour: number;
}

const SHORT = 8;

/** The same rates, with time counted from when their load began. */
function sinceBegin(rates: Rates): Rates {
  const first = rates.stretches.find((stretch) => stretch.t_ms.length > 0);
  const begin = first ? extent(first, rates.seconds_a_point)[0] * 1000 : 0;
  const stretches = rates.stretches
    .filter((stretch) => stretch.t_ms.length > 0)
    .map((stretch) => ({ ...stretch, t_ms: stretch.t_ms.map((ms) => ms - begin) }));
  return { ...rates, stretches };
}

export function overlayHeight(sides: NamedRates[], context: ChartContext): number {
  return legend(context, sides.map((side) => side.name)).height + 270;
}

export function overlayOption(sides: NamedRates[], context: ChartContext, description: string) {
  const moved = sides.map((side) => ({ ...side, rates: sinceBegin(side.rates) }));
  const legends = legend(context, sides.map((side) => side.name));
  const ends = moved.flatMap(({ rates }) => rates.stretches.map((one) => extent(one, rates.seconds_a_point)[1]));
  const end = ends.reduce((a, b) => Math.max(a, b), 1);
  const step = timeStep(end, context.narrow ? 4 : 9);
  const ticks = Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, index) => index * step);
  const look = axis(context);
  const general = base(context, description);
  return {
    ...general,
    legend: legends.option,
    grid: { left: 58, right: 18, top: legends.height + 28, bottom: 44, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'axis',
      axisPointer: { lineStyle: { color: context.tokens['rule-strong'] } },
      formatter: (params: unknown) => {
        const list = (params as { seriesName: string; value: [number, number | null]; axisValue: number }[])
          .filter((one) => one.value[1] !== null);
        const lines = list.map((one) => `${one.seriesName}: ${iops(one.value[1] ?? 0)} IOPS`);
        return list[0] ? tip(timeLabel(list[0].axisValue, end < SHORT), [...new Set(lines)]) : '';
      },
    },
    xAxis: {
      ...look,
      type: 'value',
      min: 0,
      max: end,
      splitLine: { show: false },
      name: 'since the load began',
      nameLocation: 'middle',
      nameGap: 26,
      axisTick: { ...look.axisTick, customValues: ticks },
      axisLabel: {
        ...look.axisLabel,
        customValues: ticks,
        alignMinLabel: 'left',
        formatter: (value: number) => timeLabel(value, end < SHORT),
      },
    },
    yAxis: {
      ...look,
      type: 'value',
      min: 0,
      name: 'IOPS',
      nameGap: 9,
      nameTextStyle: { ...look.nameTextStyle, align: 'left', padding: [0, 0, 0, -50] },
      axisLabel: { ...look.axisLabel, formatter: short },
    },
    series: moved.flatMap(({ name, rates, colour: index }) => {
      const color = colour(context, index);
      const look = { name, silent: true, itemStyle: { color } };
      const lineStyle = { color, width: 1.6, type: dash(index) };
      const plain = { symbol: 'circle', showSymbol: false, connectNulls: false };
      const read = (stretch: { iops: number[] }, at: number) => stretch.iops[at];
      return [
        { ...look, ...plain, type: 'line', lineStyle, data: line(rates.stretches, read) },
        { ...look, type: 'scatter', symbolSize: 6, data: dots(rates.stretches, read) },
      ];
    }),
  };
}

export function overlayTable(title: string, sides: NamedRates[]): Table {
  const rows = sides.flatMap(({ name, rates }) =>
    sinceBegin(rates).stretches.flatMap((stretch) =>
      stretch.t_ms.map((ms, index) => [name, timeLabel(ms / 1000), iops(stretch.iops[index])]),
    ),
  );
  return tableOf(title, ['side', 'time', 'IOPS'], rows, [1, 2]);
}
