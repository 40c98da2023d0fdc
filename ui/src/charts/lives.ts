// Lives of volumes: a row for each, with its phases as bars over time.
import type { RenderItem } from '../lib/echarts';
import { latency } from '../lib/numbers';
import { axis, base, colour, halo, legend } from '../lib/series';
import { tableOf, tip } from '../lib/text';
import type { ChartContext } from '../lib/theme';
import type { Life, LifePhase, Table } from '../report';
import { timeLabel, timeStep } from './scale';

const ROW = 26;

export function phaseNames(lives: Life[]): string[] {
  return [...new Set(lives.flatMap((life) => life.phases.map((phase) => phase.name)))];
}

/** The lane of a row that each phase of a life has, of how many: the whole row, unless another one goes on meanwhile. */
export function lanesOf(life: Life): { lane: number; of: number }[] {
  const overlaps = (one: LifePhase, other: LifePhase) => one.from_ms < other.to_ms && other.from_ms < one.to_ms;
  const beside = (phase: LifePhase) => life.phases.filter((other) => other !== phase && overlaps(phase, other));
  const lanes = new Map<LifePhase, number>();
  // What ends first is a part of what ends later, and stands above it.
  for (const phase of life.phases.toSorted((one, other) => one.to_ms - other.to_ms)) {
    const taken = beside(phase).map((other) => lanes.get(other));
    const free = life.phases.findIndex((_, lane) => !taken.includes(lane));
    lanes.set(phase, free);
  }
  const most = Math.max(...lanes.values()) + 1;
  return life.phases.map((phase) => ({ lane: lanes.get(phase) ?? 0, of: beside(phase).length > 0 ? most : 1 }));
}

export function livesHeight(lives: Life[], context: ChartContext): number {
  const row = context.narrow ? ROW + 16 : ROW;
  return legend(context, phaseNames(lives)).height + 14 + lives.length * row + 40;
}

export function livesOption(lives: Life[], context: ChartContext, description: string) {
  const names = phaseNames(lives);
  const legends = legend(context, names);
  const ends = lives.flatMap((life) => life.phases.map((phase) => phase.to_ms / 1000));
  const end = ends.reduce((a, b) => Math.max(a, b), 0.1);
  const step = timeStep(end, context.narrow ? 4 : 8);
  const look = axis(context);
  const general = base(context, description);
  const longest = Math.max(...lives.map((life) => life.label.length));
  const left = context.narrow ? 8 : Math.min(300, 42 + 6.6 * longest);
  return {
    ...general,
    legend: legends.option,
    grid: { left, right: 24, top: legends.height + 12, bottom: 40, outerBoundsMode: 'none' },
    tooltip: {
      ...general.tooltip,
      trigger: 'item',
      formatter: (params: unknown) => {
        const { value, seriesName } = params as { value: [number, number, number]; seriesName: string };
        const life = lives[value[2]];
        return tip(life.label, [
          `${seriesName}: ${latency((value[1] - value[0]) * 1e9)}`,
          `from ${latency(value[0] * 1e9)} to ${latency(value[1] * 1e9)}`,
          ...(life.failed ? [life.failed] : []),
        ]);
      },
    },
    xAxis: {
      ...look,
      type: 'value',
      min: 0,
      max: end,
      interval: step,
      name: 'since the volume was asked for',
      nameLocation: 'middle',
      nameGap: 26,
      axisLabel: {
        ...look.axisLabel,
        alignMinLabel: 'left',
        formatter: (value: number) => (Math.abs(value / step - Math.round(value / step)) > 1e-6
          ? '' : timeLabel(value, step < 1)),
      },
    },
    yAxis: {
      ...look,
      type: 'category',
      inverse: true,
      data: lives.map((life) => (life.failed ? `✕ ${life.label}` : life.label)),
      splitLine: { show: false },
      z: 6,
      axisLabel: {
        ...look.axisLabel,
        color: context.tokens.text,
        interval: 0,
        ...halo(context),
        ...(context.narrow
          ? { inside: true, verticalAlign: 'bottom', padding: [0, 0, 12, 0] }
          : { width: left - 14, overflow: 'truncate' }),
      },
    },
    series: names.map((name, index) => {
      const renderItem: RenderItem = (params, api) => {
        const area = params.coordSys as unknown as { x: number; width: number };
        const [x1, y] = api.coord([api.value(0), api.value(2)]);
        const x2 = api.coord([api.value(1), api.value(2)])[0];
        const x = Math.max(area.x, x1);
        const width = Math.min(area.x + area.width, Math.max(x2, x1 + 2)) - x;
        const style = { fill: colour(context, index), stroke: context.tokens.surface, lineWidth: 1 };
        const life = lives[Number(api.value(2))];
        const { lane, of } = lanesOf(life)[life.phases.findIndex((phase) => phase.name === name)];
        const bars = Math.min(ROW - 4, Math.max(14, 6 * of));
        const height = bars / of;
        return width > 0 ? { type: 'rect', shape: { x, y: y - bars / 2 + lane * height, width, height }, style } : null;
      };
      return {
        type: 'custom',
        name,
        renderItem,
        itemStyle: { color: colour(context, index) },
        encode: { x: [0, 1], y: 2 },
        data: lives.flatMap((life, row) =>
          life.phases
            .filter((phase) => phase.name === name)
            .map((phase) => [phase.from_ms / 1000, phase.to_ms / 1000, row]),
        ),
      };
    }),
  };
}

export function livesTable(title: string, lives: Life[]): Table {
  const rows = lives.flatMap((life) =>
    life.phases.map((phase) => [
      life.label,
      phase.name,
      latency(phase.from_ms * 1e6),
      latency(phase.to_ms * 1e6),
      latency((phase.to_ms - phase.from_ms) * 1e6),
      life.failed ?? '',
    ]),
  );
  return tableOf(title, ['volume', 'phase', 'from', 'to', 'took', 'failed'], rows, [2, 3, 4]);
}
