// Areas between two lines over time, and lines with gaps, for each stretch of load of its own.
import type { CustomSeriesOption, RenderItem } from '../lib/echarts';
import type { Stretch } from '../report';

/** So few points make no line that can be seen. */
const FEW_POINTS = 3;

type Value = (stretch: Stretch, index: number) => number | null;

/** A line with a gap after each stretch. */
export function line(stretches: Stretch[], value: Value) {
  return stretches.flatMap((stretch) => [
    ...stretch.t_ms.map((ms, index) => [ms / 1000, value(stretch, index)] as [number, number | null]),
    [stretch.t_ms[stretch.t_ms.length - 1] / 1000, null] as [number, null],
  ]);
}

/** The points of stretches that are too short to show as a line. */
export function dots(stretches: Stretch[], value: Value) {
  return stretches
    .filter((stretch) => stretch.t_ms.length <= FEW_POINTS)
    .flatMap((stretch) => stretch.t_ms.map((ms, index) => [ms / 1000, value(stretch, index)]))
    .filter((point): point is [number, number] => point[1] !== null);
}

export interface Band {
  x: number[];
  low: number[];
  high: number[];
}

/** An area between two lines, for each stretch of its own. */
export function bandSeries(bands: Band[], grid: number, fill: string): CustomSeriesOption {
  const renderItem: RenderItem = (params, api) => {
    const band = bands[params.dataIndex];
    const above = band.x.map((x, index) => api.coord([x, band.high[index]]));
    const below = band.x.map((x, index) => api.coord([x, band.low[index]])).reverse();
    return { type: 'polygon', shape: { points: [...above, ...below] }, style: { fill, opacity: 0.22 }, silent: true };
  };
  return {
    type: 'custom',
    xAxisIndex: grid,
    yAxisIndex: grid,
    renderItem,
    clip: true,
    silent: true,
    z: 1,
    tooltip: { show: false },
    encode: { x: [0, 1], y: [2, 3] },
    data: bands.map((band) => [band.x[0], band.x[band.x.length - 1], Math.min(...band.low), Math.max(...band.high)]),
  };
}

/** Where both latencies are known: pieces without gaps. */
export function latencyBands(stretches: Stretch[]): Band[] {
  const bands: Band[] = [];
  for (const stretch of stretches) {
    let open: Band | null = null;
    stretch.t_ms.forEach((ms, index) => {
      const [p50, p99] = [stretch.p50_us[index], stretch.p99_us[index]];
      if (p50 === null || p50 === undefined || p99 === null || p99 === undefined || p50 <= 0) {
        open = null;
        return;
      }
      if (open === null) bands.push((open = { x: [], low: [], high: [] }));
      open.x.push(ms / 1000);
      open.low.push(p50);
      open.high.push(p99);
    });
  }
  return bands;
}

export function extremeBands(stretches: Stretch[]): Band[] {
  return stretches
    .filter((stretch) => stretch.extremes.length > 0)
    .map((stretch) => ({
      x: stretch.t_ms.map((ms) => ms / 1000),
      low: stretch.extremes.map((pair) => pair[0]),
      high: stretch.extremes.map((pair) => pair[1]),
    }));
}

