// Rates and latencies of a cell over time: one panel below the other, with what was not counted shaded.
import { iops, orAbsent, throughput } from '../lib/numbers';
import { base, colour, halo, MARK_LINE } from '../lib/series';
import { tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Rates, Stretch } from '../report';
import { bandSeries, dots, extremeBands, latencyBands, line } from './band';
import { numberAxes, PANEL_LEFT, timeAxes, timeTicks, type Panel } from './panels';
import {
  extent, GAP, limitsOf, panelHeight, panelsOf, PART_NAMES, peak, pointsOf, SHORT, us, wholeExtent, type Point,
} from './rates';
import { logTicks, timeLabel } from './scale';

/** The ticks of a part of the time, from and to in percent. */
export function ratesCloser(rates: Rates, context: ChartContext, [start, end]: [number, number]) {
  const [from, to] = wholeExtent(rates.stretches);
  const at = (percent: number) => from + ((to - from) * percent) / 100;
  return { xAxis: panelsOf(rates).map(() => timeTicks(at(start), at(end), context)) };
}

export function ratesOption(rates: Rates, context: ChartContext, description: string, colourIndex = 0) {
  const stretches = rates.stretches.filter((stretch) => stretch.t_ms.length > 0);
  const panels = panelsOf(rates);
  const extents = stretches.map(extent);
  const [from, to] = wholeExtent(stretches);
  const isShort = to - from < SHORT;
  const main = colour(context, colourIndex);
  const points = pointsOf(rates);
  const tops = panels.map((_, index) => 30 + index * (panelHeight(context) + GAP));
  const all = panels.map((_, index) => index);

  const shades = stretches.map((stretch, index) => [
    { xAxis: extents[index][0], itemStyle: { color: shade(stretch.part, context), opacity: 0.75 } },
    { xAxis: extents[index][1] },
  ]);
  const window = rates.window_ms
    ? [[
        { xAxis: Number(rates.window_ms[0]) / 1000, itemStyle: windowStyle(context) },
        { xAxis: Number(rates.window_ms[1]) / 1000 },
      ]]
    : [];

  const series = panels.flatMap((panel, grid): object[] => {
    const value = valueOf(panel.key);
    const common = { xAxisIndex: grid, yAxisIndex: grid, silent: true };
    const lineOf = (read: typeof value, extra: object = {}) => ({
      ...common,
      type: 'line',
      showSymbol: false,
      connectNulls: false,
      lineStyle: { color: main, width: 1.5, ...extra },
      itemStyle: { color: main },
      data: line(stretches, read),
      z: 3,
    });
    const dotsOf = (read: typeof value) => ({
      ...common,
      type: 'scatter',
      symbolSize: 6,
      itemStyle: { color: main },
      data: dots(stretches, read),
      z: 3,
    });
    const limits = panel.key === 'latency' ? [] : limitsOf(rates, panel.key).shown;
    const first = {
      ...lineOf(value),
      markArea: { silent: true, data: [...shades, ...window], z: 0 },
      markLine: {
        ...MARK_LINE,
        z: 4,
        lineStyle: { color: context.tokens.text, type: [5, 4], width: 1.2 },
        label: { position: 'insideEndTop', color: context.tokens.text, ...halo(context) },
        data: limits.map(([name, limit]) => ({
          yAxis: limit,
          label: { formatter: () => `${name} · ${panel.key === 'iops' ? iops(limit) : throughput(limit)}` },
        })),
      },
    };
    if (panel.key === 'latency') {
      const p50 = (stretch: Stretch, index: number) => positive(stretch.p50_us[index]);
      const area = bandSeries(latencyBands(stretches), grid, main);
      return [first, lineOf(p50, { type: [4, 3] }), area, dotsOf(value), dotsOf(p50)];
    }
    const bands = panel.key === 'iops' ? extremeBands(stretches) : [];
    return [first, dotsOf(value), ...(bands.length > 0 ? [bandSeries(bands, grid, main)] : [])];
  });

  const latencies = logTicks(points.flatMap((point) => [point.p50, point.p99]).filter((value) => value !== null), 5);
  const general = base(context, description);
  return {
    ...general,
    grid: tops.map((top) => ({ left: PANEL_LEFT, right: 24, top, height: panelHeight(context), outerBoundsMode: 'none' })),
    axisPointer: { link: [{ xAxisIndex: 'all' }], lineStyle: { color: context.tokens['rule-strong'] } },
    tooltip: {
      ...general.tooltip,
      trigger: 'axis',
      formatter: (params: unknown) => {
        const list = params as { axisValue: number }[];
        return list[0] ? pointTip(points, Number(list[0].axisValue), isShort) : '';
      },
    },
    xAxis: timeAxes(panels, from, to, context, isShort),
    yAxis: numberAxes(panels, latencies, context, 4, (key) => {
      const limit = Math.max(...limitsOf(rates, key).shown.map(([, value]) => value), 0);
      return limit > peak(rates, key) ? limit * 1.12 : undefined;
    }),
    dataZoom: context.print
      ? []
      : [
          ...(context.narrow
            ? []
            : [{ type: 'inside', xAxisIndex: all, filterMode: 'none', zoomOnMouseWheel: 'ctrl' }]),
          {
            type: 'slider',
            xAxisIndex: all,
            filterMode: 'none',
            height: 18,
            bottom: 4,
            left: PANEL_LEFT,
            right: 24,
            showDetail: false,
            showDataShadow: false,
            brushSelect: false,
            borderColor: context.tokens.rule,
            fillerColor: 'rgba(128,128,128,0.18)',
            handleStyle: { color: context.tokens.surface, borderColor: context.tokens['rule-strong'] },
            moveHandleStyle: { color: context.tokens['rule-strong'] },
          },
        ],
    series,
  };
}

function positive(value: number | null | undefined): number | null {
  return value !== null && value !== undefined && value > 0 ? value : null;
}

function valueOf(key: Panel['key']): (stretch: Stretch, index: number) => number | null {
  if (key === 'iops') return (stretch, index) => stretch.iops[index];
  if (key === 'bytes') return (stretch, index) => stretch.bytes_per_second[index];
  return (stretch, index) => positive(stretch.p99_us[index]);
}

function shade(part: Stretch['part'], context: ChartContext): string {
  if (part === 'warm_up') return context.tokens['shade-warm-up'];
  return part === 'discarded' ? context.tokens['shade-discarded'] : context.tokens['shade-counted'];
}

function windowStyle(context: ChartContext) {
  return { color: 'transparent', borderColor: context.tokens.accent, borderWidth: 1, borderType: 'solid' };
}

function pointTip(points: Point[], seconds: number, isShort: boolean): HTMLElement | string {
  if (points.length === 0) return '';
  const point = points.reduce((a, b) => (Math.abs(b.seconds - seconds) < Math.abs(a.seconds - seconds) ? b : a));
  return tip(timeLabel(point.seconds, isShort), [
    `${iops(point.iops)} IOPS, ${throughput(point.bytes)} MB/s`,
    ...(point.p99 === null ? [] : [`median ${orAbsent(point.p50, us)}, p99 ${us(point.p99)}`]),
    PART_NAMES[point.part],
  ]);
}

