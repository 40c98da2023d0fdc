// Names of colours and the arithmetic of contrast. What shows the page reads their values from tokens.css.

export const TOKEN_NAMES = [
  'surface',
  'panel',
  'text',
  'muted',
  'rule',
  'rule-strong',
  'accent',
  'good',
  'bad',
  'warning',
  'info',
  'shade-warm-up',
  'shade-discarded',
  'shade-counted',
] as const;

/** How many colours tell series apart; from there on they repeat, with other dashes. */
export const SERIES_COUNT = 8;

export type TokenName = (typeof TOKEN_NAMES)[number];
export type Tokens = Record<TokenName, string>;

/** What an option of a chart depends on beside its data. */
export interface ChartContext {
  tokens: Tokens;
  /** Whether there is little room: below 520 pixels. */
  narrow: boolean;
  print: boolean;
  /** Pixels of the chart. */
  width: number;
  /** Colours of series: `palette[index % palette.length]`, or `colour` of series.ts. */
  palette: string[];
}

/** The parts of a colour written as `#rrggbb`, or as `#rgb`, which is what the build makes of it where it can. */
export function rgb(colour: string): [number, number, number] {
  const digits = colour.trim().slice(1);
  const all = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits;
  const number = Number.parseInt(all, 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

/** The relative luminance as WCAG 2 defines it. */
export function luminance(colour: string): number {
  const [red, green, blue] = rgb(colour).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours as WCAG 2 defines it, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The one of two colours that can be read better on a background. */
export function readableOn(background: string, one = '#000000', other = '#ffffff'): string {
  return contrast(background, one) >= contrast(background, other) ? one : other;
}

/** A colour between two, `share` of the way from the first to the second. */
export function mix(from: string, to: string, share: number): string {
  const [one, other] = [rgb(from), rgb(to)];
  const parts = one.map((part, index) => Math.round(part + (other[index] - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
