// Lines over the length of files, for one phase: throughput above, files per second below, a line for each target.
// Points that a cache answered are hollow.
import type { LineSeriesOption } from '../lib/echarts';
import { bytes, iops, throughput } from '../lib/numbers';
import { axis as axisStyle, base, colour, dash, legend, shape } from '../lib/series';
import { tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { FileClass, FilePhaseView } from '../report';
import { CACHED, logFloor, phasesIn, targetsOf } from './files';

const PANEL = 190;
const BELOW = 46;
const GAP = 34;

/** A number of a phase. */
type Measure = (phase: FilePhaseView) => number | null;
const THROUGHPUT: Measure = (phase) => phase.bytes_per_second;
const RATE: Measure = (phase) => phase.files_per_second;

/** Whether a phase moves data, so that it has a throughput. */
export function hasThroughput(classes: readonly FileClass[], phase: string): boolean {
  return phasesIn(classes, phase).some((at) => at.view.bytes_per_second !== null);
}

/** The classes of files that have a place on a logarithmic axis: not those of empty ones. */
export function withLength(classes: readonly FileClass[]): FileClass[] {
  return classes.filter((each) => each.size_bytes > 0);
}

/** What a phase does over the length of files, as a sentence. */
export function sizesTitle(classes: readonly FileClass[], phase: string): string {
  const all = phasesIn(classes, phase);
  const measured = all.filter((at) => !at.view.cached);
  if (measured.length === 0) return `${phase}: a cache answered everything, so that this says nothing of the storage`;
  const isOne = targetsOf(classes).length === 1;
  const sizes = [...new Set(measured.map((at) => at.size))].sort((a, b) => a - b);
  const left = all.length - measured.length;
  const note = left > 0 ? `; ${left} of ${all.length} numbers are of a cache and left out` : '';
  const ends = [...new Set([sizes[0], sizes[sizes.length - 1]])].map((size) => {
    const best = measured
      .filter((at) => at.size === size)
      .reduce((one, other) => (other.view.files_per_second > one.view.files_per_second ? other : one));
    const { files_per_second: files, bytes_per_second: rate } = best.view;
    const number = rate === null ? `${iops(files)} files/s` : `${throughput(rate)} MB/s`;
    return { target: best.target, size: bytes(size), number };
  });
  const [first, last] = ends;
  if (isOne) return `${phase}: ${ends.map((at) => `${at.number} with files of ${at.size}`).join(', ')}${note}`;
  const start = `${phase}: ${first.target} is fastest with files of ${first.size} (${first.number})`;
  if (!last) return start + note;
  const who = last.target === first.target ? 'and' : `and ${last.target} with files`;
  return `${start} ${who} of ${last.size} (${last.number})${note}`;
}

/** The colour of each target: that which it has on other pages, unless two would have the same. */
export function coloursOf(targets: readonly string[], known: (target: string) => number): number[] {
  const indexes = targets.map((target) => known(target));
  return new Set(indexes).size === targets.length ? indexes : targets.map((_, index) => index);
}

/** How high the chart of lines is. */
export function sizesHeight(classes: readonly FileClass[], phase: string, context: ChartContext): number {
  const panels = hasThroughput(classes, phase) ? 2 : 1;
  return legend(context, targetsOf(classes)).height + 26 + panels * PANEL + (panels - 1) * GAP + BELOW;
}

/** The chart of lines. */
export function sizesOption(
  classes: readonly FileClass[],
  phase: string,
  colours: readonly number[],
  context: ChartContext,
  description: string,
) {
  const targets = targetsOf(classes);
  const isOne = targets.length === 1;
  const top = legend(context, targets);
  const style = axisStyle(context);
  const measures = hasThroughput(classes, phase)
    ? [
        { name: 'MB/s', of: THROUGHPUT, text: throughput },
        { name: 'files per second', of: RATE, text: iops },
      ]
    : [{ name: 'files per second', of: RATE, text: iops }];
  const sizes = classes.map((each) => each.size_bytes).sort((a, b) => a - b);
  const tops = measures.map((_, index) => (isOne ? 0 : top.height) + 26 + index * (PANEL + GAP));
  const left = context.narrow ? 52 : 64;
  return {
    ...base(context, description),
    legend: isOne ? { show: false } : top.option,
    grid: tops.map((at) => ({ left, right: 22, top: at, height: PANEL, outerBoundsMode: 'none' as const })),
    xAxis: measures.map((_, index) => ({
      ...style,
      type: 'log' as const,
      gridIndex: index,
      min: sizes[0] / 1.6,
      max: sizes[sizes.length - 1] * 1.6,
      name: index === measures.length - 1 ? 'bytes of a file (logarithmic)' : '',
      nameLocation: 'middle' as const,
      nameGap: 28,
      axisTick: { ...style.axisTick, customValues: sizes },
      axisLabel: {
        ...style.axisLabel,
        show: index === measures.length - 1,
        customValues: sizes,
        formatter: (value: number) => bytes(Math.round(value)),
        fontSize: context.narrow ? 10 : 12,
      },
      splitLine: { show: false },
    })),
    yAxis: measures.map(({ name, of, text }, index) => ({
      ...style,
      type: 'log' as const,
      gridIndex: index,
      min: logFloor(phasesIn(classes, phase).map((at) => of(at.view) ?? 0)),
      name: `${name} (logarithmic)`,
      nameTextStyle: { ...style.nameTextStyle, align: 'left' as const, padding: [0, 0, 0, 8 - left] },
      axisLabel: { ...style.axisLabel, formatter: (value: number) => axisText(text(value)) },
    })),
    series: measures.flatMap((measure, index) =>
      targets.map((target, at) => line(classes, phase, target, colours[at], index, measure, context)),
    ),
  };
}

/** `10.0` of an axis is `10`. */
function axisText(text: string): string {
  return text.replace(/\.0+(?=\D|$)/, '').replace(/(\.\d*?)0+(?=\D|$)/, '$1');
}

function line(
  classes: readonly FileClass[],
  phase: string,
  target: string,
  at: number,
  panel: number,
  measure: { name: string; of: Measure; text: (value: number) => string },
  context: ChartContext,
): LineSeriesOption {
  const own = phasesIn(classes, phase)
    .filter((each) => each.target === target)
    .sort((a, b) => a.size - b.size);
  const tone = colour(context, at);
  return {
    id: `${panel}-${target}`,
    name: target,
    type: 'line',
    xAxisIndex: panel,
    yAxisIndex: panel,
    color: tone,
    symbol: shape(at),
    symbolSize: 9,
    showAllSymbol: true,
    lineStyle: { color: tone, type: dash(at) as 'solid', width: 2 },
    itemStyle: { color: tone },
    data: own.flatMap(({ size, view }) => {
      const value = measure.of(view);
      if (value === null) return [];
      const hollow = { color: context.tokens.surface, borderColor: tone, borderWidth: 1.5 };
      return [{ value: [size, value], itemStyle: view.cached ? hollow : { color: tone } }];
    }),
    tooltip: {
      formatter: (params: unknown) => {
        const [size, value] = (params as { value: [number, number] }).value;
        const cached = own.find((each) => each.size === size)?.view.cached;
        return tip(target, [
          `${phase}, files of ${bytes(size)}`,
          `${measure.text(value)} ${measure.name}`,
          ...(cached ? [`${CACHED}: ${cached}`] : []),
        ]);
      },
    },
  };
}
