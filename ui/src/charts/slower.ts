// How many times slower than the best each target is, by phase and length of files, as heat maps. What a cache
// answered is marked, and is not the best of anything.
import type { CustomSeriesOption } from '../lib/echarts';
import { ABSENT, bytes, iops } from '../lib/numbers';
import { base } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { FileClass, Table } from '../report';
import { CACHED, phaseOf, phasesIn, phasesOf, targetsOf } from './files';
import { heatColour, logShare, textColour } from './heat';
import { times } from './uses';

const CELL = 28;
/** What is this near to the best is shown as the best. */
const AS_GOOD = 1.005;

/** A column of the heat map: a phase with files of a length. */
export interface SlowerColumn {
  phase: string;
  /** Which class of files. */
  size: number;
  label: string;
}

/** A place of the heat map. */
export interface SlowerCell {
  target: number;
  column: number;
  /** How many times slower than the best of what was measured; null where a cache answered. */
  times: number | null;
  /** Whether the intervals of it and of the best say that it is slower; without intervals the numbers do. */
  isSure: boolean;
}

/** A heat map: its name, and its columns. */
export interface SlowerMap {
  name: string;
  columns: SlowerColumn[];
}

/** One heat map for each phase over lengths; one of all phases where there is one length alone. */
export function slowerMaps(classes: readonly FileClass[]): SlowerMap[] {
  const phases = phasesOf(classes);
  if (classes.length === 1) {
    const columns = phases.map((phase) => ({ phase, size: 0, label: phase }));
    return [{ name: `files of ${bytes(classes[0].size_bytes)}`, columns }];
  }
  return phases.map((phase) => ({
    name: phase,
    columns: classes.map((each, size) => ({ phase, size, label: bytes(each.size_bytes) })),
  }));
}

/** How many times slower than the best of its column each target is. What a cache answered is not among the best. */
export function slowerCells(classes: readonly FileClass[], map: SlowerMap): SlowerCell[] {
  const targets = targetsOf(classes);
  return map.columns.flatMap(({ phase, size }, column) => {
    const here = phasesIn([classes[size]], phase);
    const measured = here.flatMap((at) => (at.view.cached ? [] : [at.view]));
    const first = measured.at(0);
    if (!first) return here.map((at) => ({ target: targets.indexOf(at.target), column, times: null, isSure: false }));
    const best = measured.reduce((a, b) => (b.files_per_second > a.files_per_second ? b : a), first);
    return here.map(({ target, view }) => ({
      target: targets.indexOf(target),
      column,
      times: view.cached ? null : best.files_per_second / view.files_per_second,
      isSure: best.files_per_second / view.files_per_second >= AS_GOOD
        && (!view.interval || !best.interval || view.interval[1] < best.interval[0]),
    }));
  });
}

/** The slowest of a heat map, as a sentence. */
export function slowerTitle(classes: readonly FileClass[], map: SlowerMap): string {
  const cells = slowerCells(classes, map);
  const measured = cells.flatMap((cell) => (cell.times === null ? [] : [{ ...cell, ratio: cell.times }]));
  const cached = cells.length - measured.length;
  const left = cached > 0 ? `; ${cached} of ${cells.length} numbers are of a cache and left out` : '';
  const [first, ...others] = measured;
  if (!first) return `${map.name}: a cache answered everything`;
  const all = [first, ...others];
  if (all.every((cell) => cell.ratio < AS_GOOD)) return `${map.name}: nothing is slower than the best${left}`;
  const sure = all.filter((cell) => cell.isSure);
  if (sure.length === 0) return `${map.name}: nothing is surely slower than the best${left}`;
  const worst = sure.reduce((one, other) => (other.ratio > one.ratio ? other : one));
  const how = `${targetsOf(classes)[worst.target]} is up to ${times(worst.ratio)} times slower than the best`;
  const { label } = map.columns[worst.column];
  return `${map.name}: ${how}, with ${classes.length === 1 ? label : `files of ${label}`}${left}`;
}

/** How high the heat map is. */
export function slowerHeight(classes: readonly FileClass[]): number {
  return targetsOf(classes).length * CELL + 52;
}

/** The heat map. */
export function slowerOption(classes: FileClass[], map: SlowerMap, context: ChartContext, description: string) {
  const { tokens, narrow, width } = context;
  const targets = targetsOf(classes);
  const left = Math.min(width * 0.34, 18 + 7 * Math.max(...targets.map((target) => target.length)));
  const category = { type: 'category' as const, axisLine: { show: false }, axisTick: { show: false } };
  const fontSize = narrow ? 10 : 12;
  const what = classes.length === 1 ? 'what was done' : 'bytes of a file';
  return {
    ...base(context, description),
    grid: { left, right: 4, top: 4, bottom: 48, outerBoundsMode: 'none' as const },
    xAxis: {
      ...category,
      data: map.columns.map((column) => column.label),
      name: context.narrow ? 'times slower than the best' : `${what}; times slower than the best`,
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
    series: [places(classes, map, context)],
  };
}

function places(classes: readonly FileClass[], map: SlowerMap, context: ChartContext): CustomSeriesOption {
  const { tokens, narrow } = context;
  const targets = targetsOf(classes);
  const cells = slowerCells(classes, map);
  const worst = Math.max(2, ...cells.map((cell) => cell.times ?? 1));
  return {
    id: 'slower',
    type: 'custom',
    data: cells.map((cell) => [cell.column, cell.target, cell.times ?? 1]),
    encode: { x: 0, y: 1 },
    renderItem: (params, api) => {
      const cell = cells[params.dataIndex];
      const [x, y] = api.coord([cell.column, cell.target]);
      const [across, down] = api.size?.([1, 1]) as [number, number];
      const share = cell.times === null ? null : 1 - logShare(cell.times, 1, worst);
      const hollow = { fill: tokens.surface, stroke: tokens['rule-strong'], lineDash: [3, 3], lineWidth: 1 };
      const fill = share === null ? tokens.muted : textColour(share);
      return {
        type: 'rect',
        shape: { x: x - across / 2 + 1, y: y - down / 2 + 1, width: across - 2, height: down - 2 },
        style: share === null ? hollow : { fill: heatColour(share) },
        textContent: { type: 'text', style: { text: placeText(cell), fill, fontSize: narrow ? 10 : 12 } },
        textConfig: { position: 'inside' },
      };
    },
    tooltip: {
      formatter: (at: unknown) => {
        const cell = cells[(at as { dataIndex: number }).dataIndex];
        const { phase, size } = map.columns[cell.column];
        const view = phaseOf(classes[size].rows, targets[cell.target], phase);
        const rate = view ? [`${iops(view.files_per_second)} files/s`] : [];
        const behind = cell.times === null ? null : `${times(cell.times)} times slower than the best`;
        const note = behind ?? `${CACHED}: ${view?.cached ?? ''}`;
        return tip(targets[cell.target], [`${phase}, files of ${bytes(classes[size].size_bytes)}`, ...rate, note]);
      },
    },
  };
}

/** What a place says. */
export function placeText(cell: SlowerCell): string {
  if (cell.times === null) return 'cache';
  return cell.times < AS_GOOD ? 'best' : `${times(cell.times)}x`;
}

/** The heat map as a table. */
export function slowerTable(classes: readonly FileClass[], map: SlowerMap): Table {
  const targets = targetsOf(classes);
  const cells = slowerCells(classes, map);
  const text = (target: number, column: number) => {
    const cell = cells.find((each) => each.target === target && each.column === column);
    if (!cell) return ABSENT;
    return cell.times === null ? CACHED : times(cell.times);
  };
  return tableOf(
    `${map.name}: times slower than the best`,
    ['target', ...map.columns.map((column) => column.label)],
    targets.map((target, row) => [target, ...map.columns.map((_, column) => text(row, column))]),
    map.columns.map((_, index) => index + 1),
  );
}
