// Rates that were judged by what was bought: what was expected of each, which verdict it got, how many got which, and
// all of it as a table.
import { ABSENT, clock, count, orAbsent, percent } from '../lib/numbers';
import type { ExplainedCell, ExplainedRun, Judged2 as Judged, Slip, Table } from '../report';

export type Reached = Judged['reached'];
export type Unit = Judged['unit'];

/** Verdicts with what shows them without colour. */
export const VERDICTS: Record<Reached, { icon: string; word: string; meaning: string }> = {
  within: { icon: '✓', word: 'within', meaning: 'what was to be expected, within the tolerance of the product' },
  over: { icon: '▲', word: 'over', meaning: 'more than that, by less than twice' },
  under: { icon: '▼', word: 'under', meaning: 'less than that' },
  impossible: { icon: '⊘', word: 'impossible', meaning: 'so much more that something else answered, as caches do' },
};

/** What is added to the word where credits gave what lasts no longer than they do. */
const IN_BURSTS = ', in a burst';

/** What rates are counted in. */
export const UNITS: Record<Unit, string> = { iops: 'IOPS', bytes_per_second: 'MB/s', files_per_second: 'files/s' };

/** A rate that was judged, with where it is from. */
export interface JudgedRow {
  cell: ExplainedCell;
  judged: Judged;
  /** The measured rate as a share of what was to be expected. */
  share: number;
}

/** Longer names of targets are cut. */
const NAME_MAX = 28;

/** The judged rates of a run. */
export function judgedRows(run: ExplainedRun): JudgedRow[] {
  return run.cells.flatMap((cell) =>
    cell.judged.map((judged) => ({ cell, judged, share: judged.measured / judged.expected })),
  );
}

/** The rows of each unit, in the order in which units are known. */
export function byUnit(rows: readonly JudgedRow[]): { unit: Unit; rows: JudgedRow[] }[] {
  const units = Object.keys(UNITS) as Unit[];
  return units
    .map((unit) => ({ unit, rows: rows.filter((row) => row.judged.unit === unit) }))
    .filter((group) => group.rows.length > 0);
}

/** The verdict of a row in a word. */
export function verdictWord(row: JudgedRow): string {
  return VERDICTS[row.judged.reached].word + (isInBurst(row) ? IN_BURSTS : '');
}

function isInBurst(row: JudgedRow): boolean {
  return row.judged.standing === 'burst-only';
}

/** How many rates got each verdict. */
export function counts(rows: readonly JudgedRow[]): { reached: Reached; count: number }[] {
  return (Object.keys(VERDICTS) as Reached[]).map((reached) => ({
    reached,
    count: rows.filter((row) => row.judged.reached === reached).length,
  }));
}

/** The counts as a sentence: `11 of 15 rates are within what was bought; three are over, one is under`. */
export function countSentence(rows: readonly JudgedRow[]): string {
  const all = counts(rows);
  const within = all.find((each) => each.reached === 'within')?.count ?? 0;
  const others = all.filter((each) => each.reached !== 'within' && each.count > 0);
  const are = (number: number) => (number === 1 ? 'is' : 'are');
  const told = others.map((each) => `${word(each.count)} ${are(each.count)} ${says(each.reached)}`);
  if (rows.length === 0) return 'Nothing was judged';
  if (rows.length === 1) return `The one rate is ${says(rows[0].judged.reached)}${isInBurst(rows[0]) ? IN_BURSTS : ''}`;
  const bursts = rows.filter(isInBurst).length;
  const inBursts = bursts === 0 ? '' : `; ${word(bursts)} of all only in a burst`;
  if (within === rows.length) return `All ${rows.length} rates are within what was bought${inBursts}`;
  const first = `${within === 0 ? 'None' : within} of ${rows.length} rates ${within < 2 ? 'is' : 'are'}`;
  return `${first} within what was bought; ${told.join(', ')}${inBursts}`;
}

function says(reached: Reached): string {
  switch (reached) {
    case 'within':
      return 'within what was bought';
    case 'impossible':
      return 'more than is possible';
    default:
      return reached;
  }
}

const WORDS = 'none one two three four five six seven eight nine ten eleven twelve'.split(' ');

function word(number: number): string {
  return WORDS[number] ?? String(number);
}

/** Which operations, as the table of `plimsoll explain` calls them. */
export function operation(row: JudgedRow): string {
  return row.judged.operation === 'all' && row.cell.kind === 'application' ? 'disk' : row.judged.operation;
}

/** The end of a long name: paths differ there. */
function shortened(name: string): string {
  return name.length > NAME_MAX ? `…${name.slice(1 - NAME_MAX)}` : name;
}

/** What a row is called; without the target where all rows have the same. */
export function rowLabel(row: JudgedRow, rows: readonly JudgedRow[]): string {
  const several = rows.some((other) => other.cell.target !== row.cell.target);
  const workload = row.cell.workload === row.cell.target && several ? [] : [row.cell.workload];
  const kind = operation(row) === 'all' ? [] : [operation(row)];
  return [...(several ? [shortened(row.cell.target)] : []), ...workload, ...kind].join(' · ');
}

/** A rate with all digits that a reader checks: `1,838`, `207.6`. */
export function rate(unit: Unit, value: number): string {
  const shown = unit === 'bytes_per_second' ? value / 1e6 : value;
  if (shown >= 999.95 || Number.isInteger(shown)) return count(Math.round(shown));
  return shown >= 9.995 ? shown.toFixed(1).replace(/\.0$/, '') : shown.toFixed(2);
}

function tolerance({ under, over }: Judged['tolerance']): string {
  return `-${percent(under)} +${percent(over)}`;
}

/** All numbers. */
export function bulletTable(title: string, rows: readonly JudgedRow[]): Table {
  const column = (head: string, isNumber: boolean, value: (row: JudgedRow) => string) => ({
    head,
    is_number: isNumber,
    values: rows.map(value),
  });
  const of = (row: JudgedRow) => (value: number) => rate(row.judged.unit, value);
  return {
    title,
    columns: [
      column('target', false, (row) => row.cell.target),
      column('workload', false, (row) => row.cell.workload),
      column('operation', false, operation),
      column('unit', false, (row) => UNITS[row.judged.unit]),
      column('expected', true, (row) => of(row)(row.judged.expected)),
      column('measured', true, (row) => of(row)(row.judged.measured)),
      column('95 % interval', true, (row) => orAbsent(row.judged.interval, (ends) => ends.map(of(row)).join(' to '))),
      column('of it', true, (row) => percent(row.share)),
      column('verdict', false, verdictWord),
      column('lasts', true, (row) => of(row)(row.judged.lasting)),
      column('in bursts', true, (row) => orAbsent(row.judged.burst, of(row))),
      column('bursts last', true, (row) => orAbsent(row.judged.burst_seconds, (seconds) => clock(seconds * 1e9))),
      column('tolerance', true, (row) => tolerance(row.judged.tolerance)),
      column('binds', false, binds),
      column('bought', false, (row) => row.cell.bought ?? ABSENT),
    ],
  };
}

/** The part of the way that binds; of a rate below the limit it is none of them. */
function binds(row: JudgedRow): string {
  if (row.judged.standing === 'under') return ABSENT;
  return { disk: 'disk', pool: 'pool', vm: 'machine' }[row.judged.part];
}

/** A number that a text states and a slip of units explains, as a sentence. */
export function slipText(slip: Slip): string {
  const lines = slip.lines.length === 1 ? `line ${slip.lines[0]} states` : `lines ${slip.lines.join(', ')} state`;
  const whole = (value: number) => count(Math.round(value));
  return (
    `${lines} ${slip.stated} IOPS: that would follow from ${slip.size} ${slip.unit} divided as if they were ` +
    `${slip.taken_for} (${whole(slip.iops_by_slip)}); by the report it is ${whole(slip.iops)}, so the text is ` +
    `${percent(slip.iops_by_slip / slip.iops - 1)} too high`
  );
}
