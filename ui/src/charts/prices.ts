// What the numbers of a load cost: each side by its price a month, with the one that nothing is both cheaper and better
// than marked as such.
import { isDuration, METRIC_HEADS, metricText, metricWithUnit, type Group, type Metric } from '../lib/comparing';
import { ratio } from '../lib/numbers';
import { axis, base, colour, halo, shape } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Price, Side, Table, TargetPrice } from '../report';
import { logTicks, short, shortLatency } from './scale';

/** A side that has a price and a number. */
export interface Priced {
  side: Side;
  price: Price;
  value: number;
}

/** Prices nearer to each other than this are not worth a sentence. */
const ABOUT = 1.05;

/** What a side costs for a load: its target's price, or that of all of its targets. */
function priceOf(prices: TargetPrice[], side: Side, group: Group): Price | null {
  const own = prices.filter((one) => one.side === side.letter);
  const targets = group.target === null ? side.targets : [group.target];
  const found = targets.map((target) => own.find((one) => one.target === target)?.price ?? null);
  const [first] = found;
  if (!first || found.some((price) => price?.currency !== first.currency)) return null;
  return { ...first, per_month: found.reduce((sum, price) => sum + (price?.per_month ?? 0), 0) };
}

/**
 * The sides of a load that have a price and this number. Other currencies than the first are left out, and what a cache
 * answered: that is not what was paid for.
 */
export function priced(group: Group, sides: Side[], prices: TargetPrice[], metric: Metric): Priced[] {
  const all = sides.flatMap((side): Priced[] => {
    const price = priceOf(prices, side, group);
    const value = group.values.get(side.letter)?.get(metric);
    return price && value && !group.cached.has(side.letter) ? [{ side, price, value }] : [];
  });
  return all.filter((one) => one.price.currency === all[0].price.currency);
}

/** The loads that two sides or more have a price for. */
export function pricedGroups(groups: Group[], sides: Side[], prices: TargetPrice[]): Group[] {
  return groups.filter((group) => METRICS.some((metric) => priced(group, sides, prices, metric).length > 1));
}

const METRICS: Metric[] = ['iops', 'bytes_per_second', 'latency_p99_ns', 'elapsed_ns'];

/** The numbers that charts set beside the price: a rate and a time, where sides have them in common. */
export function pricedMetrics(group: Group, sides: Side[], prices: TargetPrice[]): Metric[] {
  const has = (metric: Metric) => priced(group, sides, prices, metric).length > 1;
  const rate = (['iops', 'bytes_per_second'] as const).filter(has).slice(0, 1);
  const time = (['latency_p99_ns', 'elapsed_ns'] as const).filter(has).slice(0, 1);
  return [...rate, ...time];
}

/** A sum of money: `135 EUR`, `0.0271 EUR`. */
export function money(value: number, currency: string): string {
  const text = value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
  return `${text} ${currency}`;
}

/** What one of a rate costs in a month. MB/s are counted, and not bytes. */
function each({ price, value }: Priced, metric: Metric): number {
  return price.per_month / (metric === 'bytes_per_second' ? value / 1e6 : value);
}

/** Whether nothing else costs at most as much and is at least as good. */
export function isFrontier(one: Priced, all: Priced[], metric: Metric): boolean {
  const better = (a: number, b: number) => (isDuration(metric) ? a < b : a > b);
  return !all.some((other) => {
    const [cheap, good] = [other.price.per_month - one.price.per_month, better(other.value, one.value)];
    return other !== one && ((cheap < 0 && !better(one.value, other.value)) || (cheap <= 0 && good));
  });
}

export function pricesTitle(label: string, all: Priced[], metric: Metric): string {
  const { currency } = all[0].price;
  if (isDuration(metric)) {
    const best = all.reduce((a, b) => (b.value < a.value ? b : a));
    const cheapest = all.reduce((a, b) => (b.price.per_month < a.price.per_month ? b : a));
    const of = (one: Priced) =>
      `${metricText(metric, one.value)} for ${money(one.price.per_month, currency)} a month (${one.side.letter})`;
    const head = `${label}, ${METRIC_HEADS[metric]}`;
    return best.value * ABOUT >= cheapest.value ? `${head}: no price buys less than ${of(cheapest)}`
      : `${head}: ${of(cheapest)}, ${of(best)}`;
  }
  const order = [...all].sort((a, b) => each(a, metric) - each(b, metric));
  const [first, second] = order;
  const unit = metric === 'iops' ? 'operation a second' : 'MB/s';
  const cost = `${money(each(first, metric), currency)} a month for each ${unit}`;
  const times = each(second, metric) / each(first, metric);
  if (times < ABOUT) return `${label}: ${first.side.letter} and ${second.side.letter} cost about ${cost}`;
  return `${label}: ${first.side.letter} costs least, ${cost}; ${second.side.letter} ${ratio(times)} times as much`;
}

export function pricesOption(
  all: Priced[],
  metric: Metric,
  context: ChartContext,
  description: string,
  colourOf: (letter: string) => number,
) {
  const look = axis(context);
  const general = base(context, description);
  const isLog = isDuration(metric);
  const ticks = logTicks(all.map((one) => one.value));
  const scale = metric === 'bytes_per_second' ? 1e6 : 1;
  const { currency } = all[0].price;
  const text = (value: number) => (isLog ? shortLatency(value / 1e3) : short(value / scale));
  const name = isLog ? `${METRIC_HEADS[metric]}, logarithmic` : METRIC_HEADS[metric];
  return {
    ...general,
    grid: { left: 66, right: 34, top: 30, bottom: 42, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'item',
      formatter: (params: unknown) => {
        const one = all[(params as { seriesIndex: number }).seriesIndex];
        const cost = `${money(one.price.per_month, currency)} a month, a price of ${one.price.date}`;
        return tip(`${one.side.letter}: ${one.side.targets.join(', ')}`, [metricWithUnit(metric, one.value), cost]);
      },
    },
    xAxis: {
      ...look,
      type: 'value',
      min: 0,
      max: 1.15 * Math.max(...all.map((one) => one.price.per_month)),
      name: `${currency} a month`,
      nameLocation: 'middle',
      nameGap: 26,
      axisLabel: { ...look.axisLabel, showMaxLabel: false, hideOverlap: true, formatter: short },
    },
    yAxis: {
      ...look,
      type: isLog ? 'log' : 'value',
      ...(isLog ? { min: ticks.min, max: ticks.max, axisTick: { customValues: ticks.ticks } } : { min: 0 }),
      name,
      nameTextStyle: { ...look.nameTextStyle, align: 'left', padding: [0, 0, 0, -56] },
      axisLabel: { ...look.axisLabel, formatter: text, ...(isLog ? { customValues: ticks.ticks } : {}) },
    },
    series: all.map((one) => {
      const index = colourOf(one.side.letter);
      const paint = colour(context, index);
      return {
        type: 'scatter',
        name: one.side.letter,
        symbol: shape(index),
        symbolSize: 13,
        data: [[one.price.per_month, one.value]],
        // What something else is both cheaper and better than is hollow.
        itemStyle: isFrontier(one, all, metric)
          ? { color: paint, borderColor: paint, borderWidth: 2 }
          : { color: context.tokens.surface, borderColor: paint, borderWidth: 2 },
        label: {
          show: true, position: 'right', formatter: one.side.letter, color: context.tokens.text, fontWeight: 600,
          ...halo(context),
        },
      };
    }),
  };
}

/** Everything that has a price, load by load. */
export function pricesTable(title: string, groups: Group[], sides: Side[], prices: TargetPrice[]): Table {
  const shown = METRICS.filter((metric) => groups.some((group) => priced(group, sides, prices, metric).length > 0));
  const heads = shown.flatMap((metric) =>
    isDuration(metric) ? [METRIC_HEADS[metric]] : [METRIC_HEADS[metric], `a month for each of ${METRIC_HEADS[metric]}`],
  );
  const rows = groups.flatMap((group) =>
    sides.flatMap((side) => {
      const price = priceOf(prices, side, group);
      if (!price || !group.values.has(side.letter) || group.cached.has(side.letter)) return [];
      const cells = shown.flatMap((metric) => {
        const value = group.values.get(side.letter)?.get(metric);
        const text = value === undefined ? '-' : metricText(metric, value);
        if (isDuration(metric)) return [text];
        return [text, value ? money(each({ side, price, value }, metric), price.currency) : '-'];
      });
      return [[group.label, side.letter, money(price.per_month, price.currency), ...cells, price.row, price.date]];
    }),
  );
  const numbers = heads.map((_, index) => index + 3);
  return tableOf(title, ['load', 'side', 'a month', ...heads, 'price of', 'of'], rows, [2, ...numbers]);
}
