// Tests of how claims are counted and shown.
import { describe, expect, it } from 'vitest';

import type { JudgedClaim } from '../report';
import { chosenVerdict, claimsTable, claimsTitle, countText, recomputed, verdictCounts } from './claims';

const claim = (verdict: JudgedClaim['verdict'], line: number): JudgedClaim => ({
  line,
  id: null,
  claim: 'four times, faster',
  verdict,
  recomputation: '3.9 times | 4.1 times',
  parts: [],
});
const claims = [claim('follows', 2), claim('rounding', 3), claim('does-not-follow', 4), claim('no-data', 5)];

describe('claims', () => {
  it('are counted by verdict', () => {
    expect(claimsTitle(claims)).toBe('2 of 4 claims follow from the data, 1 does not, and of 1 the data do not say');
    expect(verdictCounts(claims).map((each) => each.count)).toEqual([1, 1, 1, 1]);
  });

  it('are counted with a verb of that number', () => {
    expect([1, 2].map((count) => countText('does-not-follow', count))).toEqual(['1 does not follow', '2 do not follow']);
    expect([1, 2].map((count) => countText('follows', count))).toEqual(['1 follows', '2 follow']);
    expect(countText('no-data', 2)).toBe('2 no data');
  });

  it('are filtered by a verdict that there is', () => {
    expect([chosenVerdict('rounding'), chosenVerdict('all'), chosenVerdict('')]).toEqual(['rounding', null, null]);
  });

  it('show each recomputation on its own', () => {
    expect(recomputed(claims[0].recomputation)).toEqual(['3.9 times', '4.1 times']);
    expect(claimsTable(claims).columns[4].values).toEqual(['follows', 'rounding', 'does not follow', 'no data']);
  });
});
