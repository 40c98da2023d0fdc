// Tests of the colours of heat maps.
import { describe, expect, it } from 'vitest';

import { bounds, heatColour, logShare, steps, textColour, textContrast } from './heat';

describe('colours of heat maps', () => {
  it('go by the logarithm of the value', () => {
    expect(logShare(100, 10, 1000)).toBeCloseTo(0.5);
    expect([logShare(10, 10, 1000), logShare(1000, 10, 1000), logShare(1, 10, 1000)]).toEqual([0, 1, 0]);
    expect(logShare(5, 5, 5)).toBe(0);
  });

  it('leave text legible everywhere', () => {
    for (let share = 0; share <= 1; share += 0.01) expect(textContrast(share)).toBeGreaterThan(4.2);
    expect([textColour(0), textColour(1)]).toEqual(['#ffffff', '#101010']);
  });

  it('have the ends of the scale', () => {
    expect([heatColour(0), heatColour(1), heatColour(7)]).toEqual(['#440154', '#fde725', '#fde725']);
  });

  it('have a bar with steps of equal ratio', () => {
    expect(steps(1, 100, 3).map((step) => Math.round(step.value))).toEqual([1, 10, 100]);
    expect(steps(5, 5, 3)).toEqual([{ value: 5, share: 0 }]);
    expect(bounds([0, 7, 3])).toEqual([3, 7]);
    expect(bounds([])).toEqual([1, 1]);
  });
});
