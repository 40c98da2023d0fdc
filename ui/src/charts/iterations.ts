// How long a command took each time, and how much of that the processors were at work.
import { elapsed, percent } from '../lib/numbers';
import { axis, base, colour, legend, MARK_LINE } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import { mix, type ChartContext } from '../lib/theme';
import type { Iterations, IterationView, Table } from '../report';
import { timeStep } from './scale';

const TOP = 150;
const LOW = 90;

export function secondsText(seconds: number): string {
  return elapsed(seconds * 1e9);
}

/** The mean of what is counted; of everything where nothing is. */
export function meanSeconds(iterations: IterationView[]): number {
  const counted = iterations.filter((one) => one.is_counted);
  const used = counted.length > 0 ? counted : iterations;
  return used.reduce((sum, one) => sum + one.seconds, 0) / Math.max(1, used.length);
}

function hasProcessors(iterations: IterationView[]): boolean {
  return iterations.some((one) => one.user_seconds + one.system_seconds > 0);
}

export function iterationsHeight(iterations: Iterations): number {
  return hasProcessors(iterations.iterations) ? 30 + TOP + 66 + LOW + 46 : 30 + TOP + 46;
}

export function iterationsOption(
  iterations: Iterations, context: ChartContext, description: string, colourIndex = 0,
) {
  const list = iterations.iterations;
  const withShares = hasProcessors(list);
  const look = axis(context);
  const general = base(context, description);
  const main = colour(context, colourIndex);
  const mean = meanSeconds(list);
  const most = list.reduce((a, b) => Math.max(a, b.seconds), 0.001);
  const names = ['programs', 'kernel'];
  const legends = legend(context, names);
  const faint = mix(main, context.tokens.surface, 0.5);
  const shareOf = (seconds: number, one: IterationView) => (one.seconds > 0 ? (100 * seconds) / one.seconds : 0);
  const categories = list.map((_, index) => String(index + 1));
  const grids = withShares ? [0, 1] : [0];
  const yName = (name: string) => ({
    name,
    nameGap: 9,
    nameTextStyle: { ...look.nameTextStyle, align: 'left', padding: [0, 0, 0, -54] },
  });
  return {
    ...general,
    legend: withShares ? { ...legends.option, top: 30 + TOP + 26 } : undefined,
    grid: [
      { left: 62, right: 14, top: 30, height: TOP, outerBoundsMode: 'none' },
      ...(withShares ? [{ left: 62, right: 14, top: 30 + TOP + 72, height: LOW, outerBoundsMode: 'none' }] : []),
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }], type: 'shadow' },
    tooltip: {
      ...general.tooltip,
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      formatter: (params: unknown) => {
        const index = (params as { dataIndex: number }[])[0]?.dataIndex ?? 0;
        const one = list[index];
        return tip(`time ${index + 1}${one.is_counted ? '' : ', not counted'}`, [
          secondsText(one.seconds),
          `processors: programs ${secondsText(one.user_seconds)}, kernel ${secondsText(one.system_seconds)}`,
        ]);
      },
    },
    xAxis: grids.map((grid) => ({
      ...look,
      type: 'category',
      gridIndex: grid,
      data: categories,
      splitLine: { show: false },
      ...(grid === grids.length - 1 ? { name: 'iteration', nameLocation: 'middle', nameGap: 26 } : {}),
    })),
    yAxis: [
      {
        ...look,
        type: 'value',
        min: 0,
        interval: timeStep(most, 4),
        ...yName(`time; dashed: their mean, ${secondsText(mean)}`),
        axisLabel: { ...look.axisLabel, formatter: (value: number) => shortSeconds(value) },
      },
      ...(withShares
        ? [{
            ...look,
            type: 'value',
            gridIndex: 1,
            min: 0,
            splitNumber: 2,
            ...yName('processors'),
            axisLabel: { ...look.axisLabel, formatter: (value: number) => `${Number(value.toPrecision(3))} %` },
          }]
        : []),
    ],
    series: [
      {
        type: 'bar',
        name: 'time',
        barMaxWidth: 44,
        data: list.map((one) => ({
          value: one.seconds,
          itemStyle: one.is_counted
            ? { color: main }
            : { color: context.tokens.surface, borderColor: main, borderWidth: 1, borderType: 'dashed' },
        })),
        markLine: {
          ...MARK_LINE,
          lineStyle: { color: context.tokens.text, type: [5, 4] },
          label: { show: false },
          data: [{ yAxis: mean }],
        },
      },
      ...(withShares
        ? [
            {
              type: 'bar', name: 'programs', stack: 'processors', xAxisIndex: 1, yAxisIndex: 1, barMaxWidth: 44,
              itemStyle: { color: main }, data: list.map((one) => shareOf(one.user_seconds, one)),
            },
            {
              type: 'bar', name: 'kernel', stack: 'processors', xAxisIndex: 1, yAxisIndex: 1, barMaxWidth: 44,
              itemStyle: { color: faint }, data: list.map((one) => shareOf(one.system_seconds, one)),
            },
          ]
        : []),
    ],
  };
}

/** A time for an axis. */
export function shortSeconds(seconds: number): string {
  if (seconds >= 600) return secondsText(seconds);
  if (seconds === 0 || seconds >= 1) return `${Number(seconds.toPrecision(3))} s`;
  return `${Number((seconds * 1e3).toPrecision(3))} ms`;
}

export function iterationsTable(iterations: Iterations): Table {
  const rows = iterations.iterations.map((one, index) => [
    String(index + 1),
    secondsText(one.seconds),
    secondsText(one.user_seconds),
    secondsText(one.system_seconds),
    percent((one.user_seconds + one.system_seconds) / Math.max(one.seconds, 1e-9)),
    one.is_counted ? 'yes' : 'no',
  ]);
  const heads = ['iteration', 'time', 'processors: programs', 'processors: kernel', 'share', 'counted'];
  return tableOf(iterations.title, heads, rows, [0, 1, 2, 3, 4]);
}
