// Claims with their verdicts: the icon and word of each verdict, how many got which, and all of them as a table.
import { tableOf } from '../lib/text';
import type { JudgedClaim, Table } from '../report';

export type ClaimVerdict = JudgedClaim['verdict'];

/** Verdicts, those that a reader looks for first. */
export const CLAIM_VERDICTS: Record<ClaimVerdict, { icon: string; word: string; meaning: string }> = {
  'does-not-follow': { icon: '✕', word: 'does not follow', meaning: 'the data say something else' },
  rounding: { icon: '≈', word: 'rounding', meaning: 'the data say so but for rounding' },
  follows: { icon: '✓', word: 'follows', meaning: 'the data say so' },
  'no-data': { icon: '?', word: 'no data', meaning: 'the data do not say' },
};

const ALL = Object.keys(CLAIM_VERDICTS) as ClaimVerdict[];

/** How many claims got each verdict. */
export function verdictCounts(claims: readonly JudgedClaim[]): { verdict: ClaimVerdict; count: number }[] {
  return ALL.map((verdict) => ({ verdict, count: claims.filter((claim) => claim.verdict === verdict).length }));
}

/** `1 does not follow`, `2 do not follow`. */
export function countText(verdict: ClaimVerdict, count: number): string {
  const { word } = CLAIM_VERDICTS[verdict];
  return `${count} ${count === 1 ? word : word.replace('does', 'do').replace('follows', 'follow')}`;
}

/** The verdict that a text names; null for all of them. */
export function chosenVerdict(text: string): ClaimVerdict | null {
  return ALL.find((verdict) => verdict === text) ?? null;
}

/** The counts as a sentence. */
export function claimsTitle(claims: readonly JudgedClaim[]): string {
  const of = (verdict: ClaimVerdict) => claims.filter((claim) => claim.verdict === verdict).length;
  const good = of('follows') + of('rounding');
  const [not, unknown] = [of('does-not-follow'), of('no-data')];
  const follow = (count: number) => (count === 1 ? 'follows' : 'follow');
  const do_ = (count: number) => (count === 1 ? 'does' : 'do');
  return (
    `${good} of ${claims.length} claims ${follow(good)} from the data, ${not} ${do_(not)} not, ` +
    `and of ${unknown} the data do not say`
  );
}

/** The sentences of a recomputation: what is evaluated of several figures stands on lines of its own. */
export function recomputed(text: string): string[] {
  return text.split(' | ').map((part) => part.trim());
}

/** All claims. */
export function claimsTable(claims: readonly JudgedClaim[]): Table {
  return tableOf(
    'Claims',
    ['id', 'line', 'claim', 'checked as', 'verdict', 'recomputation'],
    claims.map((claim) => [
      claim.id ?? '',
      String(claim.line),
      claim.claim,
      claim.check ?? '',
      CLAIM_VERDICTS[claim.verdict].word,
      claim.recomputation,
    ]),
    [1],
  );
}
