// What is shown lives in the address, so that a link to a report leads to the same view: `#/run/ID?at=rates-0`.

export const PAGES = ['overview', 'run', 'compare', 'history', 'sweep', 'expected', 'files', 'uses', 'claims'] as const;
export type Page = (typeof PAGES)[number];

export interface Route {
  page: Page;
  /** The run of the page `run`; null on others. */
  run: string | null;
  /** Choices of the page, and in `at` the chart that is linked to. */
  choices: Record<string, string>;
}

/** Reads the part of an address from `#` on. What is not known leads to the overview. */
export function parseRoute(hash: string): Route {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [name, run] = path.split('/');
  const page = PAGES.find((known) => known === name) ?? 'overview';
  return {
    page,
    run: page === 'run' && run ? safelyDecoded(run) : null,
    choices: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The part of an address that leads to a route. */
export function formatRoute(route: Route): string {
  const run = route.page === 'run' && route.run ? `/${encodeURIComponent(route.run)}` : '';
  const query = new URLSearchParams(route.choices).toString();
  return `#/${route.page}${run}${query && `?${query}`}`;
}

/** A link to a page, without choices. */
export function linkTo(page: Page, run: string | null = null, choices: Record<string, string> = {}): string {
  return formatRoute({ page, run, choices });
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
