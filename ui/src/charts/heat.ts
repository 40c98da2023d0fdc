// Colours of heat maps: a scale that people who do not tell red from green can read as well, by the logarithm of the
// value, and the colour in which text is legible on each of its colours.
import { contrast, mix, readableOn } from '../lib/theme';

/** Viridis, from little to much. */
const SCALE = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];
const DARK = '#101010';
const LIGHT = '#ffffff';

/** Where a value lies between two others on a logarithmic scale, 0 to 1. */
export function logShare(value: number, low: number, high: number): number {
  if (!(value > 0) || !(low > 0) || !(high > low)) return value > low ? 1 : 0;
  return clamp(Math.log(value / low) / Math.log(high / low));
}

/** The colour of a share of the scale. */
export function heatColour(share: number): string {
  const at = clamp(share) * (SCALE.length - 1);
  const below = Math.min(Math.floor(at), SCALE.length - 2);
  return mix(SCALE[below], SCALE[below + 1], at - below);
}

/** The colour of text on the colour of a share of the scale. */
export function textColour(share: number): string {
  return readableOn(heatColour(share), DARK, LIGHT);
}

/** How much the text of a share of the scale stands out. */
export function textContrast(share: number): number {
  return contrast(heatColour(share), textColour(share));
}

/** Values at equal steps of the scale, for the colour bar, the smallest first. */
export function steps(low: number, high: number, count: number): { value: number; share: number }[] {
  if (!(low > 0) || !(high > low)) return [{ value: high, share: 0 }];
  return Array.from({ length: count }, (_, index) => {
    const share = index / (count - 1);
    return { value: low * (high / low) ** share, share };
  });
}

/** The smallest and the largest of positive numbers. */
export function bounds(values: readonly number[]): [number, number] {
  const known = values.filter((value) => value > 0);
  return known.length > 0 ? [Math.min(...known), Math.max(...known)] : [1, 1];
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
