// Axes have few ticks, at values that people know.
import { describe, expect, it } from 'vitest';
import { logTicks, percentileLabel, percentilePlace, ratioTicks, timeLabel, timeStep } from './scale';

describe('axes of time', () => {
  it('step as clocks do', () => {
    expect([timeStep(60, 6), timeStep(1800, 6), timeStep(4000, 8), timeStep(3, 6)]).toEqual([10, 300, 600, 0.5]);
    expect([timeLabel(5), timeLabel(750), timeLabel(3750), timeLabel(1.5, true)])
      .toEqual(['0:05', '12:30', '1:02:30', '1.5 s']);
  });
});

describe('logarithmic axes', () => {
  it('hold all values', () => {
    expect(logTicks([130, 900])).toEqual({ min: 100, max: 1000, ticks: [100, 200, 500, 1000] });
    const wide = logTicks([0.3, 2e6]);
    expect(wide.min).toBeLessThanOrEqual(0.3);
    expect(wide.max).toBeGreaterThanOrEqual(2e6);
    expect(wide.ticks.every((tick) => Number.isInteger(Math.log10(tick)))).toBe(true);
    expect(logTicks([])).toEqual({ min: 1, max: 10, ticks: [1, 10] });
    expect(logTicks([5, 5]).max).toBeGreaterThan(5);
  });

  it('of ratios have a tick at one', () => {
    for (const values of [[0.93, 1.08], [0.016, 1.38], [0.5, 3], [], [1, 62]]) {
      const { min, max, ticks } = ratioTicks(values);
      expect(ticks).toContain(1);
      expect(min).toBeLessThanOrEqual(Math.min(1, ...values));
      expect(max).toBeGreaterThanOrEqual(Math.max(1, ...values));
      expect(ticks.length).toBeLessThan(11);
    }
  });
});

describe('percentiles', () => {
  it('stand where their complements are powers of ten', () => {
    expect([50, 90, 99, 99.9, 99.99, 99.999].map(percentilePlace)).toEqual([2, 10, 100, 1000, 1e4, 1e5]);
    expect([2, 10, 1e5, 1e8].map(percentileLabel)).toEqual(['50 %', '90 %', '99.999 %', '99.999999 %']);
  });
});
