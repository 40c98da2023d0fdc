// Which pages a report has, and what they are called.
import type { Report } from '../report';
import type { Page } from './route';

export const PAGE_NAMES: Record<Page, string> = {
  overview: 'Overview',
  run: 'Run',
  compare: 'Compare',
  history: 'History',
  sweep: 'Sweep',
  expected: 'Expected',
  files: 'Files',
  uses: 'Uses',
  claims: 'Claims',
};

/** The pages that have something to show, in their order. */
export function pagesOf(report: Report): Page[] {
  const has: Record<Page, boolean> = {
    overview: true,
    run: report.runs.length > 0,
    compare: report.comparisons.length > 0 || report.not_compared !== null,
    history: report.trends.length > 0,
    sweep: report.sweeps.length > 0,
    expected: report.explanation !== null,
    files: report.files.length > 0,
    uses: report.uses.length > 0,
    claims: report.claims !== null,
  };
  return (Object.keys(has) as Page[]).filter((page) => has[page]);
}
