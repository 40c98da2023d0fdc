// Ratios of a side to the reference with their intervals, a row for each number, around the line of equality.
import type { RenderItem } from '../lib/echarts';
import { cellLabel, isDuration, judge, METRIC_HEADS, type Metric } from '../lib/comparing';
import { ratio } from '../lib/numbers';
import { axis, base, colour, halo, MARK_LINE } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import { counted } from '../lib/words';
import type { ChartContext } from '../lib/theme';
import type { Compared, Pair, Table } from '../report';
import { ratioTicks } from './scale';

const ROW = 26;
const NARROW_ROW = 44;
const FIGURES = 190;

export interface ForestRow {
  label: string;
  metric: Metric;
  compared: Compared;
}

/** The numbers of a pair that were compared. Bytes per second that repeat operations per second are left out. */
export function forestRows(pair: Pair): ForestRow[] {
  return pair.cells.flatMap((cell) => {
    const operations = new Set(cell.metrics.map((metric) => metric.operation));
    return cell.metrics.flatMap((metric, index): ForestRow[] => {
      const before = cell.metrics[index - 1]?.compared;
      const repeats = metric.metric === 'bytes_per_second' && before && metric.compared
        && isClose(before.low, metric.compared.low) && isClose(before.high, metric.compared.high);
      if (!metric.compared || repeats) return [];
      const operation = operations.size > 1 || metric.operation !== 'all' ? `${metric.operation} ` : '';
      const label = `${cellLabel(cell)} · ${operation}${
        metric.metric === 'iops' ? (cell.rate_unit ?? METRIC_HEADS.iops) : METRIC_HEADS[metric.metric]}`;
      return [{ label, metric: metric.metric, compared: metric.compared }];
    });
  });
}

function isClose(one: number, other: number): boolean {
  return Math.abs(one / other - 1) < 1e-9;
}

export function figures(row: ForestRow): string {
  const { ratio: middle, low, high } = row.compared;
  return `${ratio(middle)} [${ratio(low)}, ${ratio(high)}]`;
}

function sizes(row: ForestRow): string {
  const [reference, side] = row.compared.values;
  // A rate that was measured in one piece has its interval from how its seconds scatter, and no values to be counted.
  if (row.compared.method === 'unpaired-intervals' && reference === 1 && side === 1) return 'in one piece';
  return reference === side ? `n ${reference}` : `n ${reference}, ${side}`;
}

export function excludesOne(compared: Compared): boolean {
  return compared.low > 1 || compared.high < 1;
}

/** How many numbers are surely better or worse, in a sentence. */
export function forestTitle(pair: Pair, rows: ForestRow[]): string {
  const words = rows.map((row) => judge(row.metric, row.compared).word);
  const [better, worse] = ['better', 'worse'].map((word) => words.filter((one) => one === word).length);
  const parts = [better > 0 ? `better in ${better}` : '', worse > 0 ? `worse in ${worse}` : ''];
  const told = parts.filter((part) => part !== '').join(' and ');
  return `${pair.side} beside ${pair.reference}: ${told || 'no sure difference in any'} of ${
    counted(rows.length, 'number')}`;
}

export function forestHeight(rows: ForestRow[], context: ChartContext): number {
  return rows.length * (context.narrow ? NARROW_ROW : ROW) + 60;
}

export function forestOption(
  pair: Pair, rows: ForestRow[], context: ChartContext, description: string, colourIndex: number,
) {
  const { min, max, ticks } = ratioTicks(rows.flatMap((row) => [row.compared.low, row.compared.high]));
  const look = axis(context);
  const general = base(context, description);
  const left = context.narrow ? 18 : Math.min(320, 26 + 6.9 * Math.max(...rows.map((row) => row.label.length)));
  const right = context.narrow ? 20 : FIGURES;
  const stroke = colour(context, colourIndex);
  const renderItem: RenderItem = (params, api) => {
    const { compared } = rows[params.dataIndex];
    const index = params.dataIndex;
    const at = (value: number) => api.coord([Math.min(max, Math.max(min, value)), index])[0];
    const y = api.coord([1, index])[1] + (context.narrow ? 9 : 0);
    const [low, middle, high] = [at(compared.low), at(compared.ratio), at(compared.high)];
    const style = { stroke, lineWidth: 1.6, fill: undefined };
    const line = (x1: number, y1: number, x2: number, y2: number) =>
      ({ type: 'line' as const, shape: { x1, y1, x2, y2 }, style });
    const fill = excludesOne(compared) ? stroke : context.tokens.surface;
    return {
      type: 'group',
      children: [
        line(low, y, high, y),
        line(low, y - 4, low, y + 4),
        line(high, y - 4, high, y + 4),
        {
          type: 'polygon',
          shape: { points: [[middle - 6, y], [middle, y - 6], [middle + 6, y], [middle, y + 6]] },
          style: { fill, stroke, lineWidth: 1.6 },
        },
      ],
    };
  };
  const category = {
    ...look,
    type: 'category' as const,
    inverse: true,
    axisLine: { show: false },
    axisTick: { show: false },
    z: 6,
  };
  const text = { ...look.axisLabel, color: context.tokens.text, interval: 0 };
  return {
    ...general,
    grid: { left, right, top: 12, bottom: 44, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'item',
      formatter: (params: unknown) => {
        const row = rows[(params as { dataIndex: number }).dataIndex];
        return row ? tip(row.label, [figures(row), sizes(row), judge(row.metric, row.compared).word]) : '';
      },
    },
    xAxis: {
      ...look,
      type: 'log',
      min,
      max,
      name: `times as much as ${pair.reference}`,
      nameLocation: 'middle',
      nameGap: 26,
      axisTick: { ...look.axisTick, customValues: ticks },
      axisLabel: {
        ...look.axisLabel,
        customValues: ticks,
        formatter: (value: number) => String(Number(value.toPrecision(3))),
      },
    },
    yAxis: [
      {
        ...category,
        data: rows.map((row) => row.label),
        splitLine: { show: !context.narrow, lineStyle: { color: context.tokens.rule } },
        axisLabel: context.narrow
          ? {
              ...text,
              ...halo(context),
              inside: true,
              verticalAlign: 'bottom',
              padding: [0, 0, 1, 0],
              fontSize: 11,
              formatter: (label: string, index: number) => `${label} · ${figures(rows[index])}, ${sizes(rows[index])}`,
              width: context.width - 30,
              overflow: 'truncate',
            }
          : { ...text, width: left - 14, overflow: 'truncate' },
      },
      {
        ...category,
        position: 'right',
        splitLine: { show: false },
        data: rows.map((row, index) => `${index} ${row.label}`),
        axisLabel: {
          ...text,
          show: !context.narrow,
          formatter: (_: string, index: number) => `${figures(rows[index])} · ${sizes(rows[index])}`,
        },
      },
    ],
    series: [
      {
        type: 'custom',
        renderItem,
        encode: { x: [0, 1, 2], y: 3 },
        data: rows.map((row, index) => [row.compared.ratio, row.compared.low, row.compared.high, index]),
        markLine: {
          ...MARK_LINE,
          z: 1,
          lineStyle: { color: context.tokens['rule-strong'], type: 'solid', width: 1.2 },
          label: { show: false },
          data: [{ xAxis: 1 }],
        },
        z: 5,
      },
      // The second axis is only drawn when something belongs to it.
      { type: 'custom', yAxisIndex: 1, renderItem: () => null, silent: true, data: [[1, 0]], encode: { x: 0, y: 1 } },
    ],
  };
}

export function forestTable(title: string, rows: ForestRow[]): Table {
  const lines = rows.map((row) => [
    row.label,
    ratio(row.compared.ratio),
    ratio(row.compared.low),
    ratio(row.compared.high),
    row.compared.values.join(', '),
    row.compared.p_value.toPrecision(2),
    judge(row.metric, row.compared).word + (isDuration(row.metric) ? ' (less is better)' : ''),
  ]);
  const heads = ['number', 'ratio', '95 % from', '95 % to', 'n', 'p', 'what may be said'];
  return tableOf(title, heads, lines, [1, 2, 3, 4, 5]);
}
