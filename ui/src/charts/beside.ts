// What applications gain by storage that is faster for synthetic loads: two bars for each, on one scale.
import { axis, base, halo, legend, MARK_LINE } from '../lib/series';
import { ratio } from '../lib/numbers';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Beside, Table } from '../report';

const NAMES = ['synthetic load', 'application'];
const ROW = 74;

export function besideTitle(list: Beside[]): string {
  const most = list.reduce((a, b) => (b.synthetic_ratio > a.synthetic_ratio ? b : a));
  const times = (value: number) => `${ratio(value)} times`;
  const synthetic = `${times(most.synthetic_ratio)} as fast in ${most.synthetic}`;
  return `${most.faster} is ${synthetic}, and ${times(most.application_ratio)} as fast in ${most.application}`;
}

export function besideHeight(list: Beside[], context: ChartContext): number {
  return legend(context, NAMES).height + list.length * ROW + 50;
}

function labelOf(one: Beside): string {
  const target = one.target === null ? '' : `${one.target}: `;
  return `${target}${one.synthetic} and ${one.application}, ${one.faster} is faster`;
}

export function besideOption(list: Beside[], context: ChartContext, description: string) {
  const legends = legend(context, NAMES);
  const look = axis(context);
  const general = base(context, description);
  const values = list.map((one) => [one.synthetic_ratio, one.application_ratio]);
  const max = Math.max(1, ...values.flat());
  const room = context.width - 34;
  return {
    ...general,
    legend: legends.option,
    grid: { left: 10, right: 24, top: legends.height + 6, bottom: 42, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'item',
      formatter: (params: unknown) => {
        const { dataIndex, seriesName } = params as { dataIndex: number; seriesName: string };
        const value = values[dataIndex][NAMES.indexOf(seriesName)];
        return tip(labelOf(list[dataIndex]), [`${seriesName}: ${ratio(value)} times as fast`]);
      },
    },
    xAxis: {
      ...look,
      type: 'value',
      min: 0,
      max: (max * room) / (room - 60),
      name: 'times as fast on the faster side',
      nameLocation: 'middle',
      nameGap: 26,
      axisLabel: { ...look.axisLabel, showMaxLabel: false, formatter: (value: number) => ratio(value) },
    },
    yAxis: {
      ...look,
      type: 'category',
      inverse: true,
      data: list.map((_, index) => String(index)),
      axisTick: { show: false },
      splitLine: { show: false },
      z: 6,
      axisLabel: {
        ...look.axisLabel,
        ...halo(context),
        color: context.tokens.text,
        fontWeight: 600,
        inside: true,
        interval: 0,
        verticalAlign: 'bottom',
        padding: [0, 0, 22, -4],
        formatter: (_: string, index: number) => labelOf(list[index]),
        width: room - 10,
        overflow: 'truncate',
      },
    },
    series: NAMES.map((name, index) => ({
      type: 'bar',
      name,
      barWidth: 14,
      barGap: '20%',
      // The colours of sides would say that these are sides.
      itemStyle: { color: index === 0 ? context.tokens['rule-strong'] : context.tokens.text },
      label: {
        show: true,
        position: 'right',
        color: context.tokens.text,
        ...halo(context),
        formatter: (params: { dataIndex: number }) => `${ratio(values[params.dataIndex][index])}×`,
      },
      data: values.map((pair) => pair[index]),
      markLine: index === 0
        ? {
            ...MARK_LINE, z: 1, label: { show: false },
            lineStyle: { color: context.tokens['rule-strong'], type: 'solid', width: 1 }, data: [{ xAxis: 1 }],
          }
        : undefined,
    })),
  };
}

export function besideTable(title: string, list: Beside[]): Table {
  const rows = list.map((one) => [
    labelOf(one), one.faster, ratio(one.synthetic_ratio), ratio(one.application_ratio), one.sentence,
  ]);
  return tableOf(title, ['loads', 'faster', 'synthetic', 'application', 'what follows'], rows, [2, 3]);
}
