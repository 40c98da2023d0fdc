// What each of several workers did: a bar for each, beside their mean.
import { count, iops } from '../lib/numbers';
import { axis, base, colour, MARK_LINE } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Fairness, Table } from '../report';
import { short } from './scale';

export function fairnessText(fairness: Fairness, value: number): string {
  return fairness.unit === 'IOPS' ? iops(value) : count(Math.round(value));
}

export function fairnessOption(fairness: Fairness, context: ChartContext, description: string, colourIndex = 0) {
  const mean = fairness.values.reduce((sum, value) => sum + value, 0) / Math.max(1, fairness.values.length);
  const look = axis(context);
  const general = base(context, description);
  return {
    ...general,
    grid: { left: 58, right: 14, top: 28, bottom: 42, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'item',
      formatter: (params: unknown) => {
        const index = (params as { dataIndex: number }).dataIndex;
        const number = fairnessText(fairness, fairness.values[index]);
        return tip(`${fairness.of} ${index + 1}`, [`${number} ${fairness.unit}`]);
      },
    },
    xAxis: {
      ...look,
      type: 'category',
      data: fairness.values.map((_, index) => String(index + 1)),
      splitLine: { show: false },
      name: fairness.of,
      nameLocation: 'middle',
      nameGap: 26,
    },
    yAxis: {
      ...look,
      type: 'value',
      min: 0,
      splitNumber: 3,
      name: `${fairness.unit}; dashed: their mean, ${fairnessText(fairness, mean)}`,
      nameGap: 9,
      nameTextStyle: { ...look.nameTextStyle, align: 'left', padding: [0, 0, 0, -50] },
      axisLabel: { ...look.axisLabel, formatter: short },
    },
    series: [
      {
        type: 'bar',
        barMaxWidth: 36,
        barCategoryGap: '25%',
        itemStyle: { color: colour(context, colourIndex) },
        data: fairness.values,
        markLine: {
          ...MARK_LINE,
          lineStyle: { color: context.tokens.text, type: [5, 4] },
          label: { show: false },
          data: [{ yAxis: mean }],
        },
      },
    ],
  };
}

export function fairnessTable(fairness: Fairness): Table {
  const rows = fairness.values.map((value, index) => [String(index + 1), fairnessText(fairness, value)]);
  return tableOf(fairness.title, [fairness.of, fairness.unit], rows, [0, 1]);
}
