// What tests of options draw with: tokens that are their own names, and eight colours.
import { TOKEN_NAMES, type ChartContext, type Tokens } from '../lib/theme';

/** A context of a chart that is so wide. */
export function context(width = 1000): ChartContext {
  const tokens = Object.fromEntries(TOKEN_NAMES.map((name) => [name, name])) as Tokens;
  const palette = Array.from({ length: 8 }, (_, index) => `series-${index + 1}`);
  return { tokens, palette, width, narrow: width < 520, print: false };
}
