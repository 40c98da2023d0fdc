// What an address leads to where there is a server: its list of runs, a report of some of them, or what is going on.
import { formatQuery, NO_FRAME, safelyDecoded, splitHash, type Frame } from '../lib/route';

/** Which part of the history is listed. */
export interface Listing {
  text: string;
  target: string;
  /** Pairs, each as `key=value`. */
  tags: string[];
  /** From 1 on. */
  page: number;
}

export type Where =
  | { kind: 'runs'; listing: Listing }
  | { kind: 'report'; runs: string[] }
  | { kind: 'live'; id: string | null };

export const EVERYTHING: Listing = { text: '', target: '', tags: [], page: 1 };

/** Reads the part of an address from `#` on. What is not known leads to the list. */
export function parseWhere(hash: string): Where {
  const [path, query] = splitHash(hash);
  const [kind, id] = path.split('/');
  if (kind === 'report') return { kind, runs: (query.get('runs') ?? '').split(',').filter((run) => run !== '') };
  if (kind === 'live') return { kind, id: id ? safelyDecoded(id) : null };
  const page = Number(query.get('page') ?? 1);
  return {
    kind: 'runs',
    listing: {
      text: query.get('text') ?? '',
      target: query.get('target') ?? '',
      tags: [...new Set(query.getAll('tag').filter((tag) => /^[^=]+=/.test(tag)))],
      page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    },
  };
}

/** Where the report stands in an address, if there is one. */
export function frameOf(hash: string): Frame {
  const where = parseWhere(hash);
  if (where.kind === 'report') return { path: 'report', kept: { runs: where.runs.join(',') } };
  if (where.kind === 'live' && where.id) return { path: `live/${encodeURIComponent(where.id)}`, kept: {} };
  return NO_FRAME;
}

function queryOf(listing: Listing): URLSearchParams {
  const query = new URLSearchParams();
  if (listing.text) query.set('text', listing.text);
  if (listing.target) query.set('target', listing.target);
  for (const tag of listing.tags) query.append('tag', tag);
  return query;
}

/** A link to a part of the list. */
export function linkToRuns(listing: Listing = EVERYTHING): string {
  const query = queryOf(listing);
  if (listing.page > 1) query.set('page', String(listing.page));
  const text = formatQuery(query);
  return `#/runs${text && `?${text}`}`;
}

/** A link to the report of runs. */
export function linkToReport(runs: string[]): string {
  return `#/report?${formatQuery(new URLSearchParams({ runs: runs.join(',') }))}`;
}

/** A link to a run that is going on; to all of them without one. */
export function linkToLive(id: string | null = null): string {
  return id ? `#/live/${encodeURIComponent(id)}` : '#/live';
}

/** What is asked of the server for a part of the list. */
export function pathOfRuns(listing: Listing, limit: number): string {
  const query = queryOf(listing);
  query.set('limit', String(limit));
  query.set('offset', String((listing.page - 1) * limit));
  return `/api/runs?${query}`;
}
