// Sides as shares of one of them: for each load a bar for each side, all of one scale that begins at zero.
import type { CustomSeriesOption, RenderItem } from '../lib/echarts';
import {
  CACHE, headlineOf, isDuration, METRIC_HEADS, metricText, metricWithUnit, referenceOf, type Group, type Metric,
} from '../lib/comparing';
import { count } from '../lib/numbers';
import { axis, base, colour, MARK_LINE } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Table } from '../report';

/** On the linear scale a longer bar is broken: it would make all others too short to compare. */
export const BREAK_PERCENT = 250;
const ROW = 24;
const BAR = 15;
const LEFT = 30;
const RIGHT = 24;
/** Pixels of a letter of a label, a little more than on average. */
const LETTER = 6.7;

/** The names of arrays by the letters of their sides. */
export type Arrays = Map<string, string>;

export interface Bar {
  letter: string;
  /** The name of the array that it is of. */
  array?: string;
  percent: number;
  value: number;
  metric: Metric;
  /** The ends of the 95 % interval, in percent. */
  interval: [number, number] | null;
  /** What rates count: `IOPS`, `files/s`. */
  rateUnit: string;
  /** Whether it is the rate of a cache, and not of the storage. */
  isCached: boolean;
}

export interface BarGroup {
  label: string;
  reference: string;
  bars: Bar[];
}

/** A share of the reference: four digits at most, `100 %`, `138.4 %`, `24.0 %`, `1.59 %`, `6,290 %`. */
export function percentLabel(percent: number): string {
  if (percent === 0) return '0 %';
  if (Math.abs(percent - 100) < 1e-9) return '100 %';
  if (percent >= 999.95) return `${count(Math.round(percent))} %`;
  if (percent >= 9.995) return `${percent.toFixed(1)} %`;
  return percent >= 0.995 ? `${percent.toFixed(2)} %` : `${Number(percent.toPrecision(3))} %`;
}

/** The bars of all loads that the reference, or what stands for it, has. */
export function barGroups(
  groups: Group[], letters: string[], chosen: string, arrays: Arrays = new Map(),
): BarGroup[] {
  return groups.flatMap((group) => {
    const metric = headlineOf(group);
    const reference = metric && referenceOf(group, metric, chosen);
    if (!metric || !reference) return [];
    const whole = group.values.get(reference)?.get(metric) ?? 0;
    const bars = letters.flatMap((letter): Bar[] => {
      const value = group.values.get(letter)?.get(metric);
      if (value === undefined) return [];
      const said = group.compared.get(letter)?.get(metric);
      // Where sides were compared, the bar is what the sentence says, and lies within its own interval.
      const compared = said?.reference === reference ? said.compared : null;
      const interval: [number, number] | null = compared ? [compared.low * 100, compared.high * 100] : null;
      const percent = compared ? compared.ratio * 100 : (100 * value) / whole;
      const isCached = group.cached.has(letter);
      return [{ letter, array: arrays.get(letter), percent, value, metric, interval, rateUnit: group.rateUnit, isCached }];
    });
    const words = [
      group.label,
      ...(metric === 'iops' ? [] : [METRIC_HEADS[metric]]),
      ...(isDuration(metric) ? ['less is better'] : []),
      ...(reference === chosen ? [] : [`${chosen} did not measure it: ${reference} is 100 %`]),
    ];
    return bars.length > 1 ? [{ label: words.join(' · '), reference, bars }] : [];
  });
}

function named(bar: Bar): string {
  return bar.array ? `${bar.letter} ${bar.array}` : bar.letter;
}

/** The finding: what share others have. */
export function barsTitle(groups: BarGroup[], chosen: string): string {
  const shares = new Map<string, number[]>();
  let whole = chosen;
  for (const group of groups.filter((one) => one.reference === chosen)) {
    for (const bar of group.bars) {
      if (bar.letter === chosen) whole = named(bar);
      else shares.set(named(bar), [...(shares.get(named(bar)) ?? []), bar.percent]);
    }
  }
  const said = [...shares].slice(0, 3).map(([name, percents]) => {
    const [low, high] = [Math.min(...percents), Math.max(...percents)].map(percentLabel);
    return `${name} has ${low === high ? low : `from ${low} to ${high}, by load`}`;
  });
  if (said.length === 0) return 'Sides as shares of what they are compared with';
  const more = shares.size > said.length ? `, and ${shares.size - said.length} others are below` : '';
  return `Where ${whole} has 100 %, ${said.join(', ')}${more}`;
}

type Row = { group: BarGroup; bar: Bar | null };

function rowsOf(groups: BarGroup[]): Row[] {
  return groups.flatMap((group) => [{ group, bar: null }, ...group.bars.map((bar) => ({ group, bar }))]);
}

export function barsHeight(groups: BarGroup[]): number {
  return rowsOf(groups).length * ROW + 44;
}

export function barLabel(bar: Bar): string {
  const cache = bar.isCached ? ` · ${CACHE}` : '';
  const array = bar.array ? ` · ${bar.array}` : '';
  return `${percentLabel(bar.percent)} · ${metricWithUnit(bar.metric, bar.value, bar.rateUnit)}${cache}${array}`;
}

function powerBelow(value: number): number {
  return Number(`1e${Math.floor(Math.log10(value))}`);
}

export function barsOption(
  groups: BarGroup[], context: ChartContext, description: string, isLog: boolean, colourOf: (letter: string) => number,
) {
  const rows = rowsOf(groups);
  const bars = rows.flatMap((row) => (row.bar ? [row.bar] : []));
  const look = axis(context);
  const general = base(context, description);
  const room = Math.max(80, context.width - LEFT - RIGHT);
  const positive = bars.map((bar) => bar.percent).filter((percent) => percent > 0);
  const min = isLog ? powerBelow(Math.min(50, ...positive)) : 0;
  const drawn = (percent: number) => (isLog ? Math.max(percent, min) : Math.min(percent, BREAK_PERCENT));
  const place = (percent: number) => (isLog ? Math.log10(percent / min) : percent);
  /** Where the text of a bar begins: behind its whisker. */
  const end = (bar: Bar) => Math.max(drawn(bar.percent), bar.interval ? drawn(bar.interval[1]) : 0);
  const needed = bars.map((bar) => {
    const text = Math.min(room * 0.7, barLabel(bar).length * LETTER + 14);
    return (place(end(bar)) * room) / (room - text);
  });
  const most = Math.max(place(110), ...needed);
  const max = isLog ? min * 10 ** most : most;
  const categories = rows.map((_, index) => String(index));

  const marks: RenderItem = (params, api) => {
    const row = rows[params.dataIndex];
    const y = api.coord([min, params.dataIndex])[1];
    const area = params.coordSys as unknown as { x: number };
    const text = { fill: context.tokens.text, fontSize: 12, verticalAlign: 'middle' as const };
    const halo = { stroke: context.tokens.surface, lineWidth: 3 };
    if (!row.bar) {
      const style = { ...text, ...halo, text: row.group.label, x: area.x - LEFT + 2, y: y + 3, fontWeight: 600 };
      return { type: 'text', style: { ...style, width: room + LEFT, overflow: 'truncate' } };
    }
    const bar = row.bar;
    const x = api.coord([drawn(bar.percent), params.dataIndex])[0];
    const isBroken = !isLog && bar.percent > BREAK_PERCENT;
    const stroke = { stroke: context.tokens.text, lineWidth: 1.2, fill: undefined };
    const line = (x1: number, y1: number, x2: number, y2: number, style: object = stroke) =>
      ({ type: 'line' as const, shape: { x1, y1, x2, y2 }, style });
    const gap = { stroke: context.tokens.surface, lineWidth: 3 };
    const whisker = bar.interval
      ? [bar.interval[0], bar.interval[1]].map((one) => api.coord([drawn(Math.max(one, min)), params.dataIndex])[0])
      : null;
    return {
      type: 'group',
      children: [
        ...(isBroken ? [line(x - 16, y + 11, x - 8, y - 11, gap), line(x - 24, y + 11, x - 16, y - 11, gap)] : []),
        ...(whisker
          ? [
              line(whisker[0], y, whisker[1], y),
              line(whisker[0], y - 4, whisker[0], y + 4),
              line(whisker[1], y - 4, whisker[1], y + 4),
            ]
          : []),
        {
          type: 'text',
          style: { ...text, ...halo, text: barLabel(bar), x: Math.max(x, whisker?.[1] ?? 0) + 7, y },
        },
      ],
    };
  };
  const series: object[] = [
    {
      type: 'bar',
      barWidth: BAR,
      data: rows.map(({ bar }) => {
        if (!bar) return { value: null };
        const paint = colour(context, colourOf(bar.letter));
        const hollow = { color: context.tokens.surface, borderColor: paint, borderWidth: 1.5, borderType: 'dashed' };
        return { value: drawn(bar.percent), itemStyle: bar.isCached ? hollow : { color: paint } };
      }),
      markLine: {
        ...MARK_LINE,
        z: 1,
        lineStyle: { color: context.tokens['rule-strong'], type: 'solid', width: 1 },
        label: { show: false },
        data: [{ xAxis: 100 }],
      },
      z: 2,
    },
    {
      type: 'custom',
      renderItem: marks,
      silent: true,
      z: 4,
      tooltip: { show: false },
      encode: { x: -1, y: 1 },
      data: rows.map((_, index) => [min, index]),
    } as CustomSeriesOption,
  ];
  return {
    ...general,
    grid: { left: LEFT, right: RIGHT, top: 4, bottom: 40, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'item',
      formatter: (params: unknown) => {
        const row = rows[(params as { dataIndex: number }).dataIndex];
        return row?.bar ? tip(`${row.bar.letter}: ${row.group.label}`, tipLines(row.bar)) : '';
      },
    },
    xAxis: {
      ...look,
      type: isLog ? 'log' : 'value',
      min,
      max,
      // Bars begin at the axis: without this those of a logarithmic one begin at 1.
      ...(isLog ? { startValue: min } : {}),
      name: isLog ? 'percent of the reference, logarithmic: lengths are no shares' : 'percent of the reference',
      nameLocation: 'middle',
      nameGap: 24,
      axisTick: { ...look.axisTick, customValues: ticks(min, max, isLog, context.narrow) },
      axisLabel: {
        ...look.axisLabel,
        customValues: ticks(min, max, isLog, context.narrow),
        formatter: (value: number) => `${Number(value.toPrecision(3)).toLocaleString('en')} %`,
      },
    },
    yAxis: {
      ...look,
      type: 'category',
      inverse: true,
      data: categories,
      axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: {
        ...look.axisLabel,
        color: context.tokens.text,
        fontWeight: 600,
        interval: 0,
        formatter: (value: string) => rows[Number(value)]?.bar?.letter ?? '',
      },
    },
    series,
  };
}

/** Whole steps up to where bars are broken; what is beyond is room for texts. */
function ticks(min: number, max: number, isLog: boolean, isNarrow: boolean): number[] {
  if (isLog) {
    const powers = Math.floor(Math.log10(max / min) + 1e-9);
    return Array.from({ length: powers + 1 }, (_, index) => Number((min * 10 ** index).toPrecision(3)));
  }
  const step = isNarrow ? 100 : 50;
  const top = Math.min(max, BREAK_PERCENT);
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
}

function tipLines(bar: Bar): string[] {
  const interval = bar.interval && `95 % interval ${bar.interval.map(percentLabel).join(' to ')}`;
  const cache = bar.isCached ? ['a cache answered, and not the storage'] : [];
  const value = metricWithUnit(bar.metric, bar.value, bar.rateUnit);
  return [percentLabel(bar.percent), value, ...(interval ? [interval] : []), ...cache];
}

export function barsTable(title: string, groups: BarGroup[]): Table {
  const rows = groups.flatMap((group) =>
    group.bars.map((bar) => [
      group.label,
      named(bar),
      percentLabel(bar.percent),
      bar.interval ? bar.interval.map(percentLabel).join(' to ') : '-',
      metricText(bar.metric, bar.value),
      bar.metric === 'iops' ? bar.rateUnit : METRIC_HEADS[bar.metric],
      bar.isCached ? CACHE : 'storage',
    ]),
  );
  const heads = ['load', 'side', 'of the reference', '95 % interval', 'value', 'unit', 'answered by'];
  return tableOf(title, heads, rows, [2, 3, 4]);
}
