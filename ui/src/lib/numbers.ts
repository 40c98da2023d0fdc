// The only place where numbers become text: the same text as plimsoll-record's numbers.rs writes, golden file and all.
// Three significant figures; rates below ten thousand are whole, because that is how limits are sold.

/** What stands for a number that was not measured. */
export const ABSENT = '-';

/** The unit of `throughput`. */
export const THROUGHPUT_UNIT = 'MB/s';

/** With so many decimals, exact ties to the even digit: as Rust rounds. JavaScript rounds those up. */
function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  // Eighty decimals are all that a number of this size has, so this is exact.
  const isTie = /^50*$/.test(value.toFixed(80).split('.')[1].slice(decimals));
  if (!isTie || Number(text.at(-1)) % 2 === 0) return text;
  return (Number(text) - Math.sign(value) * 10 ** -decimals).toFixed(decimals);
}

function threeFigures(value: number): string {
  if (value <= 0) return '0';
  // The limits are where rounding would add a figure.
  if (value >= 99.95) return fixed(value, 0);
  if (value >= 9.995) return fixed(value, 1);
  return fixed(value, value >= 0.9995 ? 2 : 3);
}

/** `1.23e12`, as Rust writes it. */
function scientific(value: number): string {
  return value.toExponential(2).replace('e+', 'e');
}

/** A whole number with commas between thousands. */
export function count(value: number): string {
  return String(Math.floor(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** A rate of operations: `0.500`, `123`, `1,234`, `12.3k`, `1.23M`. */
export function iops(value: number): string {
  if (!Number.isFinite(value)) return ABSENT;
  if (value < 999.5) return threeFigures(value);
  if (value < 9_999.5) return count(Math.round(value));
  for (const [scale, suffix] of [[1e3, 'k'], [1e6, 'M'], [1e9, 'G']] as const) {
    if (value / scale < 999.5) return threeFigures(value / scale) + suffix;
  }
  return scientific(value);
}

/** Bytes per second as a number of MB/s: `0.410`, `40.2`, `1,230`, `12,300`. */
export function throughput(bytesPerSecond: number): string {
  const value = bytesPerSecond / 1e6;
  if (!Number.isFinite(value)) return ABSENT;
  if (value > 0 && value < 0.0005) return '<0.001';
  if (value < 999.5) return threeFigures(value);
  const scale = 10 ** Math.max(Math.floor(Math.log10(value)) - 2, 1);
  return count(value < 9_999.5 ? Math.round(value) : Math.round(value / scale) * scale);
}

/** A latency: `98.0 us`, `1.23 ms`, `2.50 s`. */
export function latency(ns: number): string {
  if (!Number.isFinite(ns)) return ABSENT;
  if (ns < 999.5) return `${fixed(ns, 0)} ns`;
  if (ns < 999.5e3) return `${threeFigures(ns / 1e3)} us`;
  if (ns < 999.5e6) return `${threeFigures(ns / 1e6)} ms`;
  return `${threeFigures(ns / 1e9)} s`;
}

/** A size: `512 B`, `4 KiB`, `93.1 GiB`. */
export function bytes(size: number): string {
  const value = Math.floor(size);
  for (const [unit, power] of [['EiB', 6], ['PiB', 5], ['TiB', 4], ['GiB', 3], ['MiB', 2], ['KiB', 1]] as const) {
    const whole = 1024 ** power;
    if (value >= whole) return `${value % whole === 0 ? value / whole : threeFigures(value / whole)} ${unit}`;
  }
  return `${value} B`;
}

/** A length of time in whole seconds: `42 s`, `2m 05s`, `1h 02m`. */
export function clock(ns: number): string {
  const seconds = Math.floor(ns / 1e9) + (ns % 1e9 >= 5e8 ? 1 : 0);
  const two = (value: number) => String(value).padStart(2, '0');
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3_600)}h ${two(Math.floor((seconds % 3_600) / 60))}m`;
}

/** A length of time as people say it: `850 ms`, `5.25 s`, `2m 05s`. */
export function duration(ns: number): string {
  if (ns < 1e9) return latency(ns);
  return ns < 9_995_000_000 ? `${threeFigures(ns / 1e9)} s` : clock(ns);
}

/** How long a command took: `12.5 s`, and from ten minutes on `3h 14m`. */
export function elapsed(ns: number): string {
  return ns < 600e9 ? latency(ns) : duration(ns);
}

/** A share as a percentage: `2 %`, `0.53 %`, `97 %`. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.005) return '<0.01 %';
  const digits = Math.abs(value) >= 9.95 ? 0 : Math.abs(value) >= 0.995 ? 1 : 2;
  const text = fixed(value, digits);
  return `${text.includes('.') ? text.replace(/\.?0+$/, '') : text} %`;
}

/** How many times as much, as sentences of comparisons say it: `1.38`, `0.24`, `0.016`, `62.9`, `1,234`. */
export function ratio(value: number): string {
  if (!Number.isFinite(value)) return ABSENT;
  if (value >= 99.5) return count(Math.round(value));
  if (value >= 9.95) return fixed(value, 1);
  if (value >= 0.0995) return fixed(value, 2);
  return fixed(value, value >= 0.00995 ? 3 : 4);
}

/** A moment to the minute: `2025-10-08 09:30 UTC`. */
export function moment(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Formats what is there, and `-` for what is not. */
export function orAbsent<T>(value: T | null | undefined, format: (value: T) => string): string {
  return value === null || value === undefined ? ABSENT : format(value);
}
