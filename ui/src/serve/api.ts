// What is asked of the server, which is the one that handed out the page, and what it says when it refuses.
import { counted } from '../lib/words';

export interface ListedCell {
  target: string;
  workload: string;
  read_iops: number | null;
  write_iops: number | null;
  all_iops: number | null;
  bytes_per_second: number | null;
  latency_mean_ns: number | null;
  latency_p99_ns: number | null;
  verdict: string | null;
}

export interface ListedRun {
  id: string;
  short_id: string;
  started: string;
  elapsed_ns: number;
  outcome: string;
  name: string | null;
  tags: Record<string, string>;
  targets: string[];
  version: string;
  cells: ListedCell[];
  baselines: string[];
}

export interface ListedRuns {
  /** Whether nothing can be changed here. */
  is_read_only: boolean;
  total: number;
  runs: ListedRun[];
}

const SILENT = 'The server does not answer: see whether plimsoll serve is still running.';
/** What every request that changes something says, and pages of others cannot. */
const WRITES = { 'x-plimsoll': '1' };
/** The longest file that the server takes. */
const FILE_BYTES_MAX = 64 * 2 ** 20;

/** The sentence of a refusal. */
export function sentenceOf(status: number, body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    if (typeof error === 'string' && error) return error;
  } catch {
    // Whoever stands between may say something else.
  }
  return `The server refused: ${status}.`;
}

/** Asks for something. What is thrown has a sentence as its message. */
export async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  let status: number;
  let body: string;
  try {
    const response = await fetch(path, init);
    status = response.status;
    body = await response.text();
    if (response.ok) return JSON.parse(body) as T;
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Error(SILENT);
  }
  throw new Error(sentenceOf(status, body));
}

function change(method: string, path: string, body?: unknown): Promise<unknown> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return ask(path, { method, headers: { ...WRITES, 'content-type': 'application/json' }, body: text });
}

const run = (id: string) => `/api/runs/${encodeURIComponent(id)}`;
const baseline = (name: string) => `/api/baselines/${encodeURIComponent(name)}`;

export const LIVE = '/api/live';
export const recordOf = (id: string) => `${run(id)}/record`;
export const reportOf = (runs: string[]) => `/api/report?${new URLSearchParams({ runs: runs.join(',') })}`;
export const liveReportOf = (id: string) => `/api/live/${encodeURIComponent(id)}`;
export const setTags = (id: string, tag: Record<string, string>) => change('PUT', `${run(id)}/tags`, { tag });
export const setBaseline = (name: string, id: string) => change('PUT', baseline(name), { run: id });
export const unsetBaseline = (name: string) => change('DELETE', baseline(name));
export const removeRun = (id: string, confirm: string) =>
  change('DELETE', `${run(id)}?${new URLSearchParams({ confirm })}`);

/** The runs of a file, and those of them that were there before. */
export interface Imported {
  runs: string[];
  known: string[];
}

/** Hands a file to the server; `onShare` is told how much of it has left. */
export function importFile(file: File, onShare: (share: number) => void): Promise<Imported> {
  return new Promise((resolve, reject) => {
    if (file.size > FILE_BYTES_MAX) {
      const most = counted(FILE_BYTES_MAX / 2 ** 20, 'MiB', 'MiB');
      reject(new Error(`It is longer than ${most}: send only the part with the results.`));
      return;
    }
    // Only this kind of request tells how far it is.
    const request = new XMLHttpRequest();
    request.open('POST', `/api/import?${new URLSearchParams({ name: file.name })}`);
    for (const [name, value] of Object.entries(WRITES)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => onShare(event.total > 0 ? event.loaded / event.total : 1);
    request.onerror = () => reject(new Error(`${SILENT} A folder cannot be read: drop the files in it.`));
    request.onload = () => {
      if (request.status < 200 || request.status > 299) {
        reject(new Error(sentenceOf(request.status, request.responseText)));
        return;
      }
      try {
        resolve(JSON.parse(request.responseText) as Imported);
      } catch {
        reject(new Error('What the server answered cannot be read.'));
      }
    };
    request.send(file);
  });
}
