// Where ticks stand on axes of time, of logarithms and of percentiles. The chart library's own steps are decimal.

const TIME_STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
  60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
];

/** A step in seconds that makes at most so many ticks. */
export function timeStep(seconds: number, ticks: number): number {
  return TIME_STEPS.find((step) => seconds / step <= ticks) ?? 86400 * Math.ceil(seconds / 86400 / ticks);
}

/** A moment of a run: `0:05`, `12:30`, `1:02:30`; below ten seconds in all `1.5 s`. */
export function timeLabel(seconds: number, isShort = false): string {
  if (isShort) return `${Number(seconds.toFixed(2))} s`;
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

export interface LogTicks {
  min: number;
  max: number;
  ticks: number[];
}

/** The ends and ticks of a logarithmic axis that shows all positive values: powers of ten, and 2 and 5 if few. */
export function logTicks(values: number[], most = 8): LogTicks {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return { min: 1, max: 10, ticks: [1, 10] };
  // Not by spread: a hundred thousand values are too many arguments.
  const low = positive.reduce((a, b) => Math.min(a, b));
  const high = positive.reduce((a, b) => Math.max(a, b));
  const steps = steady(Math.floor(Math.log10(low)) - 1, Math.ceil(Math.log10(high)) + 1);
  const start = steps.findLastIndex((step) => step <= low);
  const end = steps.findIndex((step, index) => step >= high && index > start);
  const shown = steps.slice(start, end + 1);
  const tens = shown.filter((step) => /^[1.0]+(e.*)?$/.test(String(step)) || Number.isInteger(Math.log10(step)));
  let ticks = shown.length <= most || tens.length < 2 ? shown : tens;
  while (ticks.length > most) ticks = ticks.filter((_, index) => index % 2 === 0);
  return { min: shown[0], max: shown[shown.length - 1], ticks };
}

function steady(from: number, to: number): number[] {
  const steps: number[] = [];
  // By text, because a power of ten times five is not always the nearest number.
  for (let power = from; power <= to; power++) for (const lead of [1, 2, 5]) steps.push(Number(`${lead}e${power}`));
  return steps;
}

/** Ticks of an axis of ratios, on which twice and half are as far from one. */
export function ratioTicks(values: number[]): LogTicks {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const low = Math.min(0.95, ...positive);
  const high = Math.max(1.05, ...positive);
  const fine = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2];
  if (low >= fine[0] && high <= 2) {
    const start = fine.findLastIndex((step) => step <= low);
    const end = fine.findIndex((step) => step >= high);
    const shown = fine.slice(start, end + 1);
    return { min: shown[0], max: shown[shown.length - 1], ticks: thin(shown, 7) };
  }
  const ticks = logTicks([low, high, 1], 9);
  return { ...ticks, ticks: ticks.ticks.includes(1) ? ticks.ticks : [...ticks.ticks, 1].sort((a, b) => a - b) };
}

/** Fewer ticks, of which 1 remains one. */
function thin(ticks: number[], most: number): number[] {
  if (ticks.length <= most) return ticks;
  const one = ticks.indexOf(1);
  return thin(ticks.filter((_, index) => (index - one) % 2 === 0), most);
}

/** The place of a percentile on an axis on which 99 is as far from 90 as 99.9 from 99. */
export function percentilePlace(percent: number): number {
  // A hair above a tick makes it vanish.
  return Number((100 / (100 - percent)).toPrecision(9));
}

/** `50 %`, `99.9 %` for a place on the axis of percentiles. */
export function percentileLabel(place: number): string {
  return `${Number((100 - 100 / place).toPrecision(9))} %`;
}

/** A number for an axis, without zeros at its end: `2k`, `1.5M`. */
export function short(value: number): string {
  for (const [scale, suffix] of [[1e9, 'G'], [1e6, 'M'], [1e4, 'k']] as const) {
    if (value >= scale) return `${Number((value / (scale === 1e4 ? 1e3 : scale)).toPrecision(4))}${suffix}`;
  }
  return Number(value.toPrecision(4)).toLocaleString('en');
}

/** A latency in microseconds for an axis: `500 us`, `2 ms`. */
export function shortLatency(us: number): string {
  if (us >= 1e6) return `${Number((us / 1e6).toPrecision(3))} s`;
  if (us >= 1e3) return `${Number((us / 1e3).toPrecision(3))} ms`;
  return us >= 1 ? `${Number(us.toPrecision(3))} us` : `${Number((us * 1e3).toPrecision(3))} ns`;
}
