// Makes records of figures that others published, as a user would: with `plimsoll import`.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plimsoll } from './program.js';

const FIGURES = fileURLToPath(new URL('../fixtures/published', import.meta.url));
const STATED = fileURLToPath(new URL('../../../docs/case-studies', import.meta.url));

const COLUMNS = {
  '000.csv': [
    ['target', 'volume'],
    ['pattern', 'pattern'],
    ['block-size', 'block size'],
    ['queue-depth', 'queue depth'],
    ['jobs', 'jobs'],
    ['read-iops', 'read IOPS'],
    ['write-iops', 'write IOPS'],
    ['elapsed', 'time'],
  ],
  '001.txt': [],
  '002.csv': [
    ['target', 'disk'],
    ['workload', 'test'],
    ['iops', 'IOPS'],
    ['throughput', 'throughput'],
    ['latency', 'latency'],
  ],
};

/** What an author states of the storage. */
export function statedOf(study) {
  return join(STATED, `${study}.toml`);
}

/** What a reader pays for some of it. */
export const PRICES = join(FIGURES, 'prices.toml');

/** What authors say about their numbers. */
export const CLAIMS = join(STATED, 'claims.csv');

/** Imports the figures, and answers the names of the runs in a history. */
export async function importPublished(history) {
  const names = [];
  for (const [file, columns] of Object.entries(COLUMNS)) {
    const name = file.split('.')[0];
    const words = columns.flatMap(([what, column]) => ['--column', `${what}=${column}`]);
    await plimsoll(FIGURES, 'import', file, '--history', history, '--quiet', '--name', name, ...words);
    names.push(name);
  }
  return names;
}
