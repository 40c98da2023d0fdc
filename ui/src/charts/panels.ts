// Panels below each other that share an axis of time: a rate, a throughput, a latency.
import { axis } from '../lib/series';
import type { ChartContext } from '../lib/theme';
import { short, shortLatency, timeLabel, timeStep, type LogTicks } from './scale';

/** What a panel shows. */
export interface Panel {
  key: 'iops' | 'bytes' | 'latency';
  name: string;
}

/** Where panels begin: room for what stands left of them. */
export const PANEL_LEFT = 58;

/** Ticks at whole steps of a clock, which the chart library does not find by itself. */
export function timeTicks(from: number, to: number, context: ChartContext) {
  const step = timeStep(to - from, context.narrow ? 4 : 9);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  const customValues = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
  return { axisTick: { customValues }, axisLabel: { customValues } };
}

/** The axes of time, of which the lowest has labels. */
export function timeAxes(panels: Panel[], from: number, to: number, context: ChartContext, isShort = false) {
  const look = axis(context);
  const ticks = timeTicks(from, to, context);
  return panels.map((_, grid) => ({
    ...look,
    type: 'value',
    gridIndex: grid,
    min: from,
    max: to,
    splitLine: { show: false },
    ...ticks,
    axisLabel: {
      ...look.axisLabel,
      ...ticks.axisLabel,
      show: grid === panels.length - 1,
      formatter: (value: number) => timeLabel(value, isShort),
    },
  }));
}

/** The axes of numbers: rates from zero up to `most`, where that is given, and latencies by logarithms. */
export function numberAxes(
  panels: Panel[],
  latencies: LogTicks,
  context: ChartContext,
  splitNumber: number,
  most: (key: 'iops' | 'bytes') => number | undefined = () => undefined,
) {
  const look = axis(context);
  return panels.map(({ key, name }, grid) => ({
    ...look,
    gridIndex: grid,
    name,
    nameLocation: 'end',
    nameGap: 8,
    nameTextStyle: { ...look.nameTextStyle, align: 'left', padding: [0, 0, 0, -50] },
    splitNumber,
    ...(key === 'latency'
      ? {
          type: 'log',
          min: latencies.min,
          max: latencies.max,
          axisTick: { ...look.axisTick, customValues: latencies.ticks },
          axisLabel: {
            ...look.axisLabel,
            customValues: latencies.ticks,
            formatter: (value: number) => shortLatency(value),
          },
        }
      : {
          type: 'value',
          min: 0,
          max: most(key),
          axisLabel: {
            ...look.axisLabel,
            showMaxLabel: false,
            formatter: (value: number) => short(key === 'iops' ? value : value / 1e6),
          },
        }),
  }));
}
