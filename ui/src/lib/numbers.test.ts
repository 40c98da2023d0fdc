// A number looks the same on the page as in text and in sentences.
import { describe, expect, it } from 'vitest';
import golden from '../numbers.golden.json';
import { bytes, clock, count, duration, elapsed, iops, latency, moment, percent, ratio, throughput } from './numbers';

type Writer = (value: number) => string;
// The golden file hands shares over in thousandths.
const WRITERS: Record<string, Writer> = {
  iops, throughput, latency, bytes, clock, count, percent: (value) => percent(value / 1000),
};

describe('numbers', () => {
  it('look as Rust writes them', () => {
    const wrong = (golden as [string, number, string][])
      .map(([name, value, text]) => [name, value, text, WRITERS[name]?.(value)])
      .filter(([, , text, own]) => text !== own);
    expect(wrong).toEqual([]);
  });

  it('round exact ties to the even digit', () => {
    expect([2.5, 3.5, 999.4].map(latency)).toEqual(['2 ns', '4 ns', '999 ns']);
    expect([0.0625, 1.125, 1.375, 10.25].map(iops)).toEqual(['0.062', '1.12', '1.38', '10.2']);
  });

  it('say lengths of time as people do', () => {
    expect([850e6, 5.25e9, 9.996e9, 125e9, 3_720e9].map(duration))
      .toEqual(['850 ms', '5.25 s', '10 s', '2m 05s', '1h 02m']);
    expect([12.5e9, 11_640e9].map(elapsed)).toEqual(['12.5 s', '3h 14m']);
  });

  it('say ratios and moments', () => {
    expect([1.384, 0.24, 0.0159, 0.0024, 62.9, 1234.4, Number.NaN].map(ratio))
      .toEqual(['1.38', '0.24', '0.016', '0.0024', '62.9', '1,234', '-']);
    expect(moment('2025-10-08T09:30:59.5Z')).toBe('2025-10-08 09:30 UTC');
    expect(moment('some day')).toBe('some day');
  });
});
