// How many times slower than the best each target is in a phase, by length of files, as a heat map. What a cache
// answered is marked, and is not the best of anything.
import type { CustomSeriesOption } from '../lib/echarts';
import { ABSENT, bytes, iops } from '../lib/numbers';
import { base } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { FileClass, Table } from '../report';
import { CACHED, phaseOf, phasesIn, targetsOf } from './files';
import { heatColour, logShare, textColour } from './heat';
import { times } from './uses';

const CELL = 28;

/** A place of the heat map. */
export interface SlowerCell {
  target: number;
  size: number;
  /** How many times slower than the best of what was measured; null where a cache answered. */
  times: number | null;
}

/** How many times slower than the best each target is in a phase. What a cache answered is not among the best. */
export function slowerCells(classes: readonly FileClass[], phase: string): SlowerCell[] {
  const targets = targetsOf(classes);
  const all = phasesIn(classes, phase);
  return classes.flatMap((each, size) => {
    const here = all.filter((at) => at.size === each.size_bytes);
    const best = Math.max(0, ...here.filter((at) => !at.view.cached).map((at) => at.view.files_per_second));
    return here.map((at) => ({
      target: targets.indexOf(at.target),
      size,
      times: at.view.cached ? null : best / at.view.files_per_second,
    }));
  });
}

/** The slowest of a phase, as a sentence. */
export function slowerTitle(classes: readonly FileClass[], phase: string): string {
  const cells = slowerCells(classes, phase);
  const measured = cells.filter((cell) => cell.times !== null);
  const cached = cells.length - measured.length;
  const left = cached > 0 ? `; ${cached} of ${cells.length} numbers are of a cache and left out` : '';
  const [first, ...others] = measured;
  if (!first) return `${phase}: a cache answered everything`;
  const worst = others.reduce((one, other) => ((other.times ?? 0) > (one.times ?? 0) ? other : one), first);
  const target = targetsOf(classes)[worst.target];
  if ((worst.times ?? 1) < 1.05) return `${phase}: nothing is slower than the best${left}`;
  const size = bytes(classes[worst.size].size_bytes);
  const how = `up to ${times(worst.times ?? 1)} times slower than the best`;
  return `${phase}: ${target} is ${how}, with files of ${size}${left}`;
}

/** How high the heat map is. */
export function slowerHeight(classes: readonly FileClass[]): number {
  return targetsOf(classes).length * CELL + 52;
}

/** The heat map. */
export function slowerOption(classes: readonly FileClass[], phase: string, context: ChartContext, description: string) {
  const { tokens, narrow, width } = context;
  const targets = targetsOf(classes);
  const cells = slowerCells(classes, phase);
  const worst = Math.max(2, ...cells.map((cell) => cell.times ?? 1));
  const left = Math.min(width * 0.34, 18 + 7 * Math.max(...targets.map((target) => target.length)));
  const category = { type: 'category' as const, axisLine: { show: false }, axisTick: { show: false } };
  const fontSize = narrow ? 10 : 12;
  const series: CustomSeriesOption = {
    id: 'slower',
    type: 'custom',
    data: cells.map((cell) => [cell.size, cell.target, cell.times ?? 1]),
    encode: { x: 0, y: 1 },
    renderItem: (params, api) => {
      const cell = cells[params.dataIndex];
      const [x, y] = api.coord([cell.size, cell.target]);
      const [across, down] = api.size?.([1, 1]) as [number, number];
      const box = { x: x - across / 2 + 1, y: y - down / 2 + 1, width: across - 2, height: down - 2 };
      const share = cell.times === null ? null : 1 - logShare(cell.times, 1, worst);
      const text = cell.times === null ? 'cache' : cell.times < 1.005 ? 'best' : `${times(cell.times)}x`;
      const hollow = { fill: tokens.surface, stroke: tokens['rule-strong'], lineDash: [3, 3], lineWidth: 1 };
      const style = share === null ? hollow : { fill: heatColour(share) };
      const ink = share === null ? tokens.muted : textColour(share);
      return {
        type: 'rect',
        shape: box,
        style,
        textContent: { type: 'text', style: { text, fill: ink, fontSize } },
        textConfig: { position: 'inside' },
      };
    },
    tooltip: {
      formatter: (at: unknown) => {
        const cell = cells[(at as { dataIndex: number }).dataIndex];
        const view = phaseOf(classes[cell.size].rows, targets[cell.target], phase);
        const rate = view ? [`${iops(view.files_per_second)} files/s`] : [];
        const behind = cell.times === null ? null : `${times(cell.times)} times slower than the best`;
        const note = behind ?? `${CACHED}: ${view?.cached ?? ''}`;
        return tip(targets[cell.target], [`${phase}, files of ${bytes(classes[cell.size].size_bytes)}`, ...rate, note]);
      },
    },
  };
  return {
    ...base(context, description),
    grid: { left, right: 4, top: 4, bottom: 48, outerBoundsMode: 'none' as const },
    xAxis: {
      ...category,
      data: classes.map((each) => bytes(each.size_bytes)),
      name: 'bytes of a file; times slower than the best',
      nameLocation: 'middle' as const,
      nameGap: 28,
      nameTextStyle: { color: tokens.muted },
      axisLabel: { color: tokens.text, interval: 0, fontSize },
    },
    yAxis: {
      ...category,
      inverse: true,
      data: targets,
      axisLabel: { color: tokens.text, interval: 0, width: left - 12, overflow: 'truncate' as const, fontSize },
    },
    series: [series],
  };
}

/** The heat map as a table. */
export function slowerTable(classes: readonly FileClass[], phase: string): Table {
  const targets = targetsOf(classes);
  const cells = slowerCells(classes, phase);
  const text = (target: number, size: number) => {
    const cell = cells.find((each) => each.target === target && each.size === size);
    if (!cell) return ABSENT;
    return cell.times === null ? CACHED : times(cell.times);
  };
  return tableOf(
    `${phase}: times slower than the best`,
    ['target', ...classes.map((each) => bytes(each.size_bytes))],
    targets.map((target, row) => [target, ...classes.map((_, size) => text(row, size))]),
    classes.map((_, index) => index + 1),
  );
}
