// Heat map of a sweep: rows are block sizes, columns are operations in flight, each cell has its number. The cell from
// which on more depth only adds waiting is outlined, and a line shows where the limit of throughput takes over.

import type { CustomSeriesOption } from '../lib/echarts';
import { bytes, iops, latency, throughput } from '../lib/numbers';
import { axis as axisStyle, base } from '../lib/series';
import { tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Sweep, SweepCell, Table } from '../report';
import { bounds, heatColour, logShare, textColour } from './heat';

/** What a cell shows. */
export type SweepMetric = 'iops' | 'throughput' | 'p99';

/** What each number is called, and in which unit it is. */
export const SWEEP_METRICS: Record<SweepMetric, { name: string; unit: string; best: string }> = {
  iops: { name: 'IOPS', unit: 'operations per second', best: 'highest' },
  throughput: { name: 'MB/s', unit: 'megabytes per second', best: 'highest' },
  p99: { name: 'p99', unit: 'latency that 99 % do not exceed', best: 'lowest' },
};

/** Marks a number that is not steady. */
export const UNSTEADY = '?';

/** The ends of the scale of colours are at least so many times apart. */
const SPAN_MIN = 2;
const ROW = 30;
const BELOW = 48;
const ABOVE = 30;

/** The number of a cell; null where it is not known. */
export function sweepValue(cell: SweepCell, metric: SweepMetric): number | null {
  switch (metric) {
    case 'iops':
      return cell.iops;
    case 'throughput':
      return cell.bytes_per_second;
    case 'p99':
      return cell.p99_us;
  }
}

/** The unit of all numbers of a sweep; one for all, so that they are short. */
export function sweepUnit(sweep: Sweep, metric: SweepMetric): string {
  if (metric !== 'p99') return SWEEP_METRICS[metric].name;
  return sweep.cells.some((cell) => (cell.p99_us ?? 0) >= 1000) ? 'ms' : 'us';
}

/** A number as a cell shows it. */
export function sweepText(value: number | null, unit: string): string {
  if (value === null) {
    return '–';
  }
  switch (unit) {
    case 'IOPS':
      return value >= 999.5 && value < 9999.5 ? `${(value / 1000).toFixed(2)}k` : iops(value);
    case 'MB/s':
      return throughput(value);
    default:
      return iops(unit === 'ms' ? value / 1000 : value);
  }
}

/** The ends of the scale of colours. Numbers that are close together get colours that are. */
export function sweepBounds(sweep: Sweep, metric: SweepMetric): [number, number] {
  const [low, high] = bounds(sweep.cells.flatMap((cell) => sweepValue(cell, metric) ?? []));
  return [Math.min(low, high / SPAN_MIN), high];
}

/** The last row whose block size is not above that at which the limit of throughput takes over; null outside. */
export function crossoverRow(sweep: Sweep): number | null {
  const size = sweep.crossover_bytes;
  const sizes = sweep.block_sizes;
  if (size === null || sizes.length === 0 || size < sizes[0]! || size >= sizes.at(-1)!) {
    return null;
  }
  return sizes.filter((each) => each <= size).length - 1;
}

/** Where the limit of throughput takes over, as a sentence. */
export function crossoverText(sweep: Sweep): string | null {
  const size = sweep.crossover_bytes;
  if (size === null) {
    return null;
  }
  const at = bytes(Math.round(size));
  const [first, last] = [sweep.block_sizes[0], sweep.block_sizes.at(-1)];
  if (first !== undefined && size < first) {
    return `Throughput is the limit of all these block sizes: it takes over from ${at} on.`;
  }
  if (last !== undefined && size >= last) {
    return `Operations are the limit of all these block sizes: throughput takes over from ${at} on.`;
  }
  return `Dashed line: from ${at} on throughput is the limit (below the line), and above it operations are.`;
}

/** What the chart shows, in a sentence: of IOPS the finding, of other numbers where they are least and most. */
export function sweepTitle(sweep: Sweep, metric: SweepMetric): string {
  const known = sweep.cells.flatMap((cell) => {
    const value = sweepValue(cell, metric);
    return value === null ? [] : [{ cell, value }];
  });
  if (metric === 'iops' || known.length === 0) return sweep.title;
  const unit = sweepUnit(sweep, metric);
  const ends = [
    known.reduce((least, one) => (one.value < least.value ? one : least)),
    known.reduce((most, one) => (one.value > most.value ? one : most)),
  ].map(({ cell, value }) => {
    const place = `${bytes(sweep.block_sizes[cell.block_size]!)}, ${sweep.depths[cell.depth]} in flight`;
    return `${sweepText(value, unit)} ${unit} at ${place}`;
  });
  return `${metric === 'p99' ? 'p99 ' : ''}from ${ends.join(' to ')}`;
}

/** How high the chart is. */
export function sweepHeight(sweep: Sweep): number {
  return ABOVE + BELOW + ROW * sweep.block_sizes.length;
}

/** The chart. */
export function sweepOption(sweep: Sweep, metric: SweepMetric, context: ChartContext, description: string) {
  const { tokens, narrow } = context;
  const left = narrow ? 62 : 76;
  const unit = sweepUnit(sweep, metric);
  const [low, high] = sweepBounds(sweep, metric);
  const share = (cell: SweepCell) => {
    const value = sweepValue(cell, metric);
    return value === null ? null : logShare(value, low, high);
  };
  const fontSize = narrow ? 10 : 12;
  const cells: CustomSeriesOption = {
    type: 'custom',
    id: 'cells',
    name: SWEEP_METRICS[metric].name,
    data: sweep.cells.map((cell) => [cell.depth, cell.block_size, sweepValue(cell, metric)]),
    encode: { x: 0, y: 1 },
    renderItem: (params, api) => {
      const cell = sweep.cells[params.dataIndex]!;
      const of = share(cell);
      const shape = place(api, cell.depth, cell.block_size, cell.is_knee ? 3 : 1);
      const fill = of === null ? tokens.surface : heatColour(of);
      const ink = of === null ? tokens.muted : textColour(of);
      const text = sweepText(sweepValue(cell, metric), unit) + (cell.word === 'steady' ? '' : UNSTEADY);
      return {
        type: 'group',
        children: [
          ...(cell.is_knee ? [outline(place(api, cell.depth, cell.block_size, 0.5), tokens.text)] : []),
          {
            type: 'rect',
            shape,
            style: { fill, stroke: cell.is_knee ? tokens.surface : 'none', lineWidth: cell.is_knee ? 1 : 0 },
            textContent: {
              type: 'text',
              style: { text, fill: ink, fontSize, fontWeight: cell.is_knee && !narrow ? 'bold' : 'normal' },
            },
            textConfig: { position: 'inside' },
          },
        ],
      };
    },
    tooltip: { formatter: (params: unknown) => cellTip(sweep, sweep.cells[indexOf(params)]!) },
  };
  return {
    ...base(context, description),
    grid: { left, right: 12, top: ABOVE, bottom: BELOW, outerBoundsMode: 'none' },
    xAxis: axis(sweep.depths.map(String), 'operations in flight', context),
    yAxis: {
      ...axis(sweep.block_sizes.map(bytes), 'block size', context),
      inverse: true,
      nameLocation: 'start',
      nameGap: 8,
      nameTextStyle: { ...axisStyle(context).nameTextStyle, align: 'left', padding: [0, 0, 0, 2 - left] },
    },
    series: [cells, ...crossover(sweep)],
  };
}

/** The number of every place as a table, with what is best of each row and column. */
export function sweepTable(sweep: Sweep, metric: SweepMetric): Table {
  const { name, best } = SWEEP_METRICS[metric];
  const unit = sweepUnit(sweep, metric);
  const at = (row: number, column: number) =>
    sweep.cells.find((cell) => cell.block_size === row && cell.depth === column);
  const values = (cells: readonly SweepCell[]) => cells.flatMap((cell) => sweepValue(cell, metric) ?? []);
  const top = (cells: readonly SweepCell[]) => {
    const known = values(cells);
    if (known.length === 0) {
      return '';
    }
    return sweepText(best === 'lowest' ? Math.min(...known) : Math.max(...known), unit);
  };
  const text = (cell: SweepCell | undefined) => {
    if (!cell) {
      return '';
    }
    const notes = [cell.word === 'steady' ? [] : [cell.word], cell.is_knee ? ['knee'] : []].flat();
    const number = sweepText(sweepValue(cell, metric), unit);
    return notes.length > 0 ? `${number} (${notes.join(', ')})` : number;
  };
  const rows = sweep.block_sizes.map((_, row) => row);
  const columns = sweep.depths.map((depth, column) => ({
    head: `${depth} in flight`,
    is_number: true,
    values: [...rows.map((row) => text(at(row, column))), top(sweep.cells.filter((cell) => cell.depth === column))],
  }));
  return {
    title: `${sweep.target}, ${sweep.pattern}: ${name}${name === unit ? '' : ` in ${unit}`}`,
    columns: [
      { head: 'block size', is_number: false, values: [...sweep.block_sizes.map(bytes), best] },
      ...columns,
      {
        head: best,
        is_number: true,
        values: [...rows.map((row) => top(sweep.cells.filter((cell) => cell.block_size === row))), top(sweep.cells)],
      },
    ],
  };
}

type Api = Parameters<NonNullable<CustomSeriesOption['renderItem']>>[1];

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The rectangle of a place, so many pixels smaller on each side. */
function place(api: Api, column: number, row: number, inset: number): Box {
  const [x, y] = api.coord([column, row]) as [number, number];
  const [width, height] = api.size!([1, 1]) as [number, number];
  return {
    x: x - width / 2 + inset,
    y: y - height / 2 + inset,
    width: Math.max(1, width - 2 * inset),
    height: Math.max(1, height - 2 * inset),
  };
}

function outline(shape: Box, color: string) {
  return { type: 'rect' as const, shape, style: { fill: 'none', stroke: color, lineWidth: 2.5 } };
}

function crossover(sweep: Sweep): CustomSeriesOption[] {
  const at = crossoverRow(sweep);
  if (at === null) {
    return [];
  }
  return [
    {
      type: 'custom',
      id: 'crossover',
      data: [[0, at]],
      encode: { x: 0, y: 1 },
      silent: true,
      z: 5,
      renderItem: (params, api) => {
        const grid = params.coordSys as unknown as Box;
        const [, height] = api.size!([1, 1]) as [number, number];
        const y = grid.y + (at + 1) * height;
        const line = (stroke: string, lineWidth: number, lineDash: number[] | undefined) => ({
          type: 'line' as const,
          shape: { x1: grid.x - 6, y1: y, x2: grid.x + grid.width + 6, y2: y },
          style: { stroke, lineWidth, ...(lineDash ? { lineDash } : {}) },
        });
        return { type: 'group', children: [line('#ffffff', 4, undefined), line('#101010', 2, [7, 4])] };
      },
      tooltip: { show: false },
    },
  ];
}

function axis(data: string[], name: string, context: ChartContext) {
  const { tokens, narrow } = context;
  return {
    ...axisStyle(context),
    type: 'category' as const,
    data,
    name,
    nameLocation: 'middle' as const,
    nameGap: 30,
    axisLabel: { color: tokens.text, fontSize: narrow ? 11 : 12, interval: 0 },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { show: false },
  };
}

function indexOf(params: unknown): number {
  return (params as { dataIndex: number }).dataIndex;
}

function cellTip(sweep: Sweep, cell: SweepCell): HTMLElement {
  const size = bytes(sweep.block_sizes[cell.block_size]!);
  const p99 = cell.p99_us === null ? [] : [`p99 ${latency(cell.p99_us * 1000).trim()}`];
  return tip(`${size}, ${sweep.depths[cell.depth]} in flight`, [
    `${iops(cell.iops)} IOPS`,
    `${throughput(cell.bytes_per_second)} MB/s`,
    ...p99,
    cell.word,
    ...(cell.is_knee ? ['knee: more depth adds waiting'] : []),
  ]);
}
