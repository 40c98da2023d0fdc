// Rates beside what was to be expected of what was bought, each as a share of that, so that all can be read on one
// axis: shades for what lasts and what credits allow, a tick for what was expected, a bar for what was measured.
import type { BarSeriesOption, CustomSeriesOption } from '../lib/echarts';
import { percent } from '../lib/numbers';
import { axis as axisStyle, base } from '../lib/series';
import { tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import { rate, rowLabel, UNITS, VERDICTS, verdictWord, type JudgedRow } from './judged';

/** Bars are cut here, in percent of what was expected. */
export const CUT = 200;
/** How far a cut bar reaches. */
const CUT_END = 212;

/** Ends of bands and bars of a row, in percent of what was expected; cut where the axis ends. */
export function marks(row: JudgedRow): {
  lasting: number;
  burst: number | null;
  measured: number;
  isCut: boolean;
  /** The ends of the 95 % interval of what was measured. */
  interval: [number, number] | null;
} {
  const of = (value: number) => (100 * value) / row.judged.expected;
  const measured = of(row.judged.measured);
  const burst = row.judged.burst === null ? null : Math.min(of(row.judged.burst), CUT_END);
  const end = (value: number) => Math.min(of(value), CUT_END);
  const interval: [number, number] | null = row.judged.interval
    ? [end(row.judged.interval[0]), end(row.judged.interval[1])]
    : null;
  return { lasting: of(row.judged.lasting), burst, measured: end(row.judged.measured), isCut: measured > CUT, interval };
}

/** How high the chart is. */
export function bulletHeight(rows: readonly JudgedRow[], narrow: boolean): number {
  return rows.length * rowHeight(narrow) + 62;
}

function rowHeight(narrow: boolean): number {
  return narrow ? 46 : 28;
}

/** The chart of rates of one unit. */
export function bulletOption(rows: readonly JudgedRow[], context: ChartContext, description: string) {
  const { tokens, narrow, width } = context;
  const left = narrow ? 8 : Math.min(340, Math.max(180, width * 0.32));
  const longest = Math.max(0, ...rows.map((row) => verdictWord(row).length));
  const right = narrow ? 12 : 30 + 7.5 * longest;
  const room = narrow ? 140 : 150;
  const highest = Math.max(110, ...rows.flatMap((row) => [marks(row).measured, marks(row).burst ?? 0, marks(row).interval?.[1] ?? 0]));
  const max = highest / (1 - room / Math.max(width - left - right, room * 2));
  const names = rows.map((row) => rowLabel(row, rows));
  const category = { type: 'category' as const, inverse: true, axisLine: { show: false }, axisTick: { show: false } };
  const ticks = [0, 50, 100, 150, 200].filter((tick) => tick <= Math.max(highest, 100));
  return {
    ...base(context, description),
    grid: { left, right, top: 8, bottom: 48, outerBoundsMode: 'none' },
    xAxis: {
      ...axisStyle(context),
      type: 'value',
      min: 0,
      max,
      name: '% of what was to be expected',
      nameLocation: 'middle',
      nameGap: 26,
      axisTick: { customValues: ticks },
      axisLabel: {
        color: tokens.muted,
        customValues: ticks,
        formatter: (value: number) => `${value} %`,
        alignMinLabel: narrow ? 'left' : undefined,
      },
      splitLine: { show: false },
    },
    yAxis: [
      {
        ...category,
        data: names,
        z: 6,
        axisLabel: {
          color: tokens.text,
          interval: 0,
          width: narrow ? width - 14 : left - 14,
          overflow: 'truncate',
          ...(narrow ? { inside: true, margin: 0, verticalAlign: 'bottom', padding: [0, 0, 12, 0], fontSize: 11 } : {}),
        },
      },
      {
        ...category,
        position: 'right',
        data: rows.map((row) => `${VERDICTS[row.judged.reached].icon} ${verdictWord(row)}`),
        axisLabel: { show: !narrow, color: tokens.text, interval: 0, align: 'left', fontWeight: 'bold' },
      },
    ],
    series: [bands(rows, context), bars(rows, context), ticksOf(rows, context)],
  };
}

/** What lasts, and what credits allow. */
function bands(rows: readonly JudgedRow[], context: ChartContext): CustomSeriesOption {
  const { tokens } = context;
  return {
    id: 'bought',
    type: 'custom',
    silent: true,
    z: 1,
    data: rows.map((row, index) => [index, marks(row).lasting, marks(row).burst]),
    encode: { x: [1, 2], y: 0 },
    renderItem: (params, api) => {
      const { lasting, burst } = marks(rows[params.dataIndex]);
      const rect = (to: number, opacity: number) => {
        const [x, y] = api.coord([0, params.dataIndex]);
        const [end] = api.coord([to, params.dataIndex]);
        return {
          type: 'rect' as const,
          shape: { x, y: y - 10, width: end - x, height: 20 },
          style: { fill: tokens.muted, opacity },
        };
      };
      return { type: 'group', children: [...(burst === null ? [] : [rect(burst, 0.16)]), rect(lasting, 0.3)] };
    },
  };
}

/** What was measured. */
function bars(rows: readonly JudgedRow[], context: ChartContext): BarSeriesOption {
  const { palette } = context;
  return {
    id: 'measured',
    type: 'bar',
    z: 2,
    barWidth: 8,
    silent: false,
    data: rows.map((row) => marks(row).measured),
    itemStyle: { color: palette[0] },
    tooltip: { formatter: (at: unknown) => rowTip(rows[(at as { dataIndex: number }).dataIndex], rows) },
  };
}

/** What stands beside a bar. */
export function barLabel(row: JudgedRow, narrow: boolean): string {
  const share = percent(row.share);
  if (narrow) return `${VERDICTS[row.judged.reached].icon} ${share} ${verdictWord(row)}`;
  return `${share} · ${rate(row.judged.unit, row.judged.measured)} ${UNITS[row.judged.unit]}`;
}

/** What was expected, and where a bar is cut. The text stands beyond both, so that neither runs through it. */
function ticksOf(rows: readonly JudgedRow[], context: ChartContext): CustomSeriesOption {
  const { tokens, narrow } = context;
  return {
    id: 'expected',
    type: 'custom',
    silent: true,
    z: 3,
    data: rows.map((_, index) => [index, 100]),
    encode: { x: 1, y: 0 },
    renderItem: (params, api) => {
      const [x, y] = api.coord([100, params.dataIndex]);
      const row = rows[params.dataIndex];
      const { measured, isCut, interval } = marks(row);
      const whisker = interval?.map((at) => api.coord([at, params.dataIndex])[0]);
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        type: 'line' as const, shape: { x1, y1, x2, y2 }, style: { stroke: tokens.text, lineWidth: 1.2 },
      });
      const [cut] = api.coord([CUT, params.dataIndex]);
      const [end] = api.coord([Math.max(measured, interval?.[1] ?? 0, 100), params.dataIndex]);
      const text = barLabel(row, narrow);
      const slash = (at: number) => ({
        type: 'line' as const,
        shape: { x1: at - 3, y1: y + 7, x2: at + 3, y2: y - 7 },
        style: { stroke: tokens.surface, lineWidth: 3 },
      });
      return {
        type: 'group',
        children: [
          { type: 'rect', shape: { x: x - 1.5, y: y - 10, width: 3, height: 20 }, style: { fill: tokens.text } },
          ...(whisker
            ? [
                line(whisker[0], y, whisker[1], y),
                line(whisker[0], y - 3, whisker[0], y + 3),
                line(whisker[1], y - 3, whisker[1], y + 3),
              ]
            : []),
          ...(isCut ? [slash(cut), slash(cut + 6)] : []),
          {
            type: 'text',
            x: end + 7,
            y,
            style: { text, fill: tokens.text, stroke: tokens.surface, lineWidth: 3, verticalAlign: 'middle' },
          },
        ],
      };
    },
  };
}

function rowTip(row: JudgedRow, rows: readonly JudgedRow[]): HTMLElement {
  const { judged } = row;
  const of = (value: number) => `${rate(judged.unit, value)} ${UNITS[judged.unit]}`;
  const verdict = VERDICTS[judged.reached];
  return tip(rowLabel(row, rows), [
    `measured ${of(judged.measured)}, ${percent(row.share)} of ${of(row.judged.expected)}`,
    ...(judged.interval ? [`95 % interval ${judged.interval.map(of).join(' to ')}`] : []),
    `lasts ${of(judged.lasting)}`,
    ...(judged.burst === null ? [] : [`in bursts ${of(judged.burst)}`]),
    `${verdict.icon} ${verdictWord(row)}: ${verdict.meaning}`,
  ]);
}
