// Everything that is written can be read, and everything that is drawn can be seen, on both backgrounds.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contrast, mix, readableOn, SERIES_COUNT, TOKEN_NAMES } from './theme';

const css = readFileSync(new URL('../tokens.css', import.meta.url), 'utf8');
const blocks = [...css.matchAll(/\{([^{}]*)\}/g)].map((match) => {
  const entries = [...match[1].matchAll(/--([a-z0-9-]+):\s*(#[0-9a-f]{6})/g)].map((entry) => [entry[1], entry[2]]);
  return Object.fromEntries(entries) as Record<string, string>;
});
const [light, darkBySystem, darkByWish] = blocks;
const series = Array.from({ length: SERIES_COUNT }, (_, index) => `series-${index + 1}`);

describe('tokens', () => {
  it('are the same however the dark theme comes to be', () => {
    expect(blocks).toHaveLength(3);
    expect(darkByWish).toEqual(darkBySystem);
    expect(Object.keys(light).sort()).toEqual([...TOKEN_NAMES, ...series].sort());
    expect(Object.keys(darkByWish).sort()).toEqual(Object.keys(light).sort());
  });

  for (const [name, tokens] of [['light', light], ['dark', darkByWish]] as const) {
    it(`can be read when ${name}`, () => {
      for (const text of ['text', 'muted', 'accent', 'good', 'bad', 'warning', 'info']) {
        for (const ground of ['surface', 'panel']) {
          expect(contrast(tokens[text], tokens[ground]), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
        }
      }
      for (const shade of ['shade-warm-up', 'shade-discarded', 'shade-counted']) {
        expect(contrast(tokens.text, tokens[shade]), `text on ${shade}`).toBeGreaterThanOrEqual(4.5);
      }
    });

    it(`can be seen when ${name}`, () => {
      for (const line of [...series, 'rule-strong']) {
        expect(contrast(tokens[line], tokens.surface), line).toBeGreaterThanOrEqual(3);
      }
      expect(new Set(series.map((one) => tokens[one])).size).toBe(SERIES_COUNT);
    });
  }
});

describe('colours', () => {
  it('have the contrast that the standard gives', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrast('#000', '#fff')).toBeCloseTo(21, 5);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });

  it('mix and stay readable', () => {
    expect(mix('#000000', '#ffffff', 0.5)).toBe('#808080');
    expect(readableOn('#ffff00')).toBe('#000000');
    expect(readableOn('#000080')).toBe('#ffffff');
  });
});
