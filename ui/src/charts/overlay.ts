// The rates of several sides over time, one line each, on one axis: time since the load began on its side. What is not
// among the numbers is faint.
import { iops } from '../lib/numbers';
import { axis, base, colour, dash, legend, shape } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import { listed } from '../lib/words';
import type { ChartContext } from '../lib/theme';
import type { Rates, Stretch, Table } from '../report';
import { dots, line } from './band';
import { PART_NAMES, SHORT, wholeExtent } from './rates';
import { short, timeLabel, timeStep } from './scale';

export interface NamedRates {
  name: string;
  rates: Rates;
  colour: number;
}

/** How much of its colour has what does not count. */
const FAINT = 0.4;

/** The same stretches, with time counted from when their load began. */
function sinceBegin(rates: Rates): Stretch[] {
  const begin = rates.stretches[0]?.begin_ms ?? 0;
  return rates.stretches.map((stretch) => ({
    ...stretch,
    begin_ms: stretch.begin_ms - begin,
    end_ms: stretch.end_ms - begin,
    t_ms: stretch.t_ms.map((ms) => ms - begin),
  }));
}

/** The median of the seconds that count, of each side. */
export function overlayTitle(label: string, sides: NamedRates[]): string {
  const told = sides.flatMap(({ name, rates }) => {
    const counted = rates.stretches.filter((stretch) => stretch.part === 'counted').flatMap((stretch) => stretch.iops);
    const middle = [...counted].sort((a, b) => a - b)[Math.floor(counted.length / 2)];
    return middle === undefined ? [] : [`${iops(middle)} IOPS on ${name}`];
  });
  const names = listed(sides.map((side) => side.name));
  if (told.length === 0 || told.length > 4) return `${label}: rates of ${names} over time`;
  return `${label}: the median second has ${listed(told)}`;
}

export function overlayHeight(sides: NamedRates[], context: ChartContext): number {
  return legend(context, sides.map((side) => side.name)).height + 270;
}

export function overlayOption(sides: NamedRates[], context: ChartContext, description: string) {
  const moved = sides.map((side) => ({ ...side, stretches: sinceBegin(side.rates) }));
  const legends = legend(context, sides.map((side) => side.name));
  const hasOthers = moved.some((side) => side.stretches.some((stretch) => stretch.part !== 'counted'));
  const end = Math.max(1, wholeExtent(moved.flatMap((side) => side.stretches))[1]);
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
      name: `since the load began${hasOthers ? '; what does not count is faint' : ''}`,
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
    series: moved.flatMap(({ name, stretches, colour: index }) => {
      const color = colour(context, index);
      const plain = { symbol: 'circle', showSymbol: false, connectNulls: false };
      const read = (stretch: { iops: number[] }, at: number) => stretch.iops[at];
      const counted = stretches.filter((stretch) => stretch.part === 'counted');
      const others = stretches.filter((stretch) => stretch.part !== 'counted');
      return [{ shown: counted, opacity: 1 }, { shown: others, opacity: FAINT }]
        .filter(({ shown }) => shown.length > 0)
        .flatMap(({ shown, opacity }) => {
          const look = { name, silent: true, itemStyle: { color, opacity } };
          const lineStyle = { color, width: 1.6, type: dash(index), opacity };
          return [
            { ...look, ...plain, type: 'line', lineStyle, data: line(shown, read) },
            { ...look, type: 'scatter', symbol: shape(index), symbolSize: 6, data: dots(shown, read) },
          ];
        });
    }),
  };
}

export function overlayTable(title: string, sides: NamedRates[]): Table {
  const moved = sides.map(({ name, rates }) => ({ name, stretches: sinceBegin(rates) }));
  const isShort = wholeExtent(moved.flatMap((side) => side.stretches))[1] < SHORT;
  const rows = moved.flatMap(({ name, stretches }) =>
    stretches.flatMap((stretch) =>
      stretch.t_ms.map((ms, index) => [
        name, timeLabel(ms / 1000, isShort), PART_NAMES[stretch.part], iops(stretch.iops[index]),
      ]),
    ),
  );
  return tableOf(title, ['side', 'time', 'part', 'IOPS'], rows, [1, 3]);
}
