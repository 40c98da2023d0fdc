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

/** Where a report stands in an address that leads to more than it: `#/report/compare?runs=a,b`. */
export interface Frame {
  /** What stands before the page: nothing where there is only the report. */
  path: string;
  /** Choices that are no page's, and stay. */
  kept: Record<string, string>;
}

export const NO_FRAME: Frame = { path: '', kept: {} };

// Links are made in many places, and all of them are to the one report that is shown.
let current = NO_FRAME;

/** From here on addresses are those of a report that stands there. */
export function standIn(frame: Frame): void {
  current = frame;
}

/** The path and the choices of the part of an address from `#` on. */
export function splitHash(hash: string): [string, URLSearchParams] {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return [path, new URLSearchParams(query)];
}

/** A query without a `?`, in which commas stay what they are. */
export function formatQuery(query: URLSearchParams): string {
  return query.toString().replaceAll('%2C', ',');
}

/** Reads the part of an address from `#` on. What is not known leads to the overview. */
export function parseRoute(hash: string, frame = current): Route {
  const [whole, query] = splitHash(hash);
  const path = frame.path && `${whole}/`.startsWith(`${frame.path}/`) ? whole.slice(frame.path.length + 1) : whole;
  const [name, run] = path.split('/');
  for (const key of Object.keys(frame.kept)) query.delete(key);
  const page = PAGES.find((known) => known === name) ?? 'overview';
  return {
    page,
    run: page === 'run' && run ? safelyDecoded(run) : null,
    choices: Object.fromEntries(query),
  };
}

/** The part of an address that leads to a route. */
export function formatRoute(route: Route, frame = current): string {
  const run = route.page === 'run' && route.run ? `/${encodeURIComponent(route.run)}` : '';
  const choices = new URLSearchParams({ ...frame.kept, ...route.choices });
  const query = frame === NO_FRAME ? choices.toString() : formatQuery(choices);
  return `#/${frame.path && `${frame.path}/`}${route.page}${run}${query && `?${query}`}`;
}

/** A link to a page, without choices. */
export function linkTo(page: Page, run: string | null = null, choices: Record<string, string> = {}): string {
  return formatRoute({ page, run, choices });
}

export function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
