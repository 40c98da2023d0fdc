// What tells series apart: colours, and for those who do not see them dashes and shapes. And what charts share.
import type { ChartContext } from './theme';

const DASHES: (string | number[])[] = ['solid', [6, 3], [2, 2], [10, 3, 2, 3], [1, 3], [12, 4]];
const SHAPES = ['circle', 'rect', 'triangle', 'diamond', 'roundRect'];

export function colour(context: ChartContext, index: number): string {
  return context.palette[index % context.palette.length];
}

export function dash(index: number): string | number[] {
  return DASHES[index % DASHES.length];
}

export function shape(index: number): string {
  return SHAPES[index % SHAPES.length];
}

/** What every line across a chart begins with: drawn where its number is, which is rounded to hundredths otherwise. */
export const MARK_LINE = { silent: true, symbol: 'none' as const, precision: 12 };

/** What every chart begins with. */
export function base(context: ChartContext, description: string) {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif', fontSize: 12 },
    aria: { enabled: true, label: { description }, decal: { show: false } },
    tooltip: {
      className: 'tip',
      confine: true,
      transitionDuration: 0,
      backgroundColor: context.tokens.surface,
      borderColor: context.tokens['rule-strong'],
      borderWidth: 1,
      padding: [6, 9] as [number, number],
      textStyle: { color: context.tokens.text, fontSize: 12 },
    },
  };
}

/** How axes look. Spread it into an axis, and its parts into the parts that need more. */
export function axis(context: ChartContext) {
  return {
    axisLine: { show: true, lineStyle: { color: context.tokens['rule-strong'] } },
    axisTick: { show: true, lineStyle: { color: context.tokens['rule-strong'] } },
    axisLabel: { color: context.tokens.muted, fontSize: 12 },
    splitLine: { show: true, lineStyle: { color: context.tokens.rule } },
    nameTextStyle: { color: context.tokens.muted, fontSize: 12 },
  };
}

/** A legend over the chart, and how many pixels it takes: the library does not move the grid for it. */
export function legend(context: ChartContext, names: string[]) {
  let rows = 1;
  let used = 0;
  for (const name of names) {
    const needed = 31 + 6.9 * name.length;
    if (used > 0 && used + needed > context.width - 10) {
      rows += 1;
      used = 0;
    }
    used += needed;
  }
  const option = {
    type: 'plain' as const,
    top: 0,
    bottom: 'auto' as const,
    left: 0,
    itemWidth: 18,
    itemHeight: 10,
    itemGap: 10,
    textStyle: { color: context.tokens.text, fontSize: 12 },
    data: names,
  };
  return { option, height: rows * 22 };
}

/** A halo, so that a text over lines can be read. */
export function halo(context: ChartContext) {
  return { textBorderColor: context.tokens.surface, textBorderWidth: 3 };
}
