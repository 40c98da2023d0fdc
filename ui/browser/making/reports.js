// Makes all reports that are tested, and a list of them: from runs, from published figures, and from hostile names.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeHostile, TITLE } from './hostile.js';
import { measure } from './measured.js';
import { CLAIMS, importPublished, PRICES, statedOf } from './published.js';
import { plimsoll } from './program.js';
import { makeVolumes } from './volumes.js';

const LIST = 'reports.json';

/** Measures, imports and reports into a folder. */
export async function makeReports(folder) {
  const history = join(folder, 'history.ndjson');
  const runs = await measure(folder, history);
  const studies = await importPublished(history);
  const hostile = await makeHostile(folder, history, runs.sides);
  const volumes = await makeVolumes(folder, history, runs.application);
  const context = (study) => ['--context', statedOf(study)];
  const wanted = {
    'one-run': [runs.jobs],
    compare: [runs.sides],
    history: runs.nights,
    sweep: [runs.sweep],
    files: [runs.files],
    application: [runs.application],
    volumes: [volumes],
    ...Object.fromEntries(studies.map((study) => [study, [study, ...context(study), '--limits', PRICES]])),
    claims: [...studies, ...studies.flatMap(context), '--claims', CLAIMS],
    hostile: [hostile, '--title', TITLE],
  };
  await mkdir(join(folder, 'reports'));
  const reports = [];
  for (const [name, words] of Object.entries(wanted)) {
    const [html, json] = ['html', 'json'].map((ending) => join(folder, 'reports', `${name}.${ending}`));
    for (const output of [html, json]) {
      await plimsoll(folder, 'report', ...words, '--history', history, '--quiet', '--output', output);
    }
    reports.push({ name, html, json });
  }
  await writeFile(join(folder, LIST), JSON.stringify(reports));
}

/** The reports that were made, each with its document. */
export async function readReports() {
  const reports = JSON.parse(await readFile(join(process.env.REPORTS, LIST), 'utf8'));
  return Promise.all(
    reports.map(async (report) => ({ ...report, document: JSON.parse(await readFile(report.json, 'utf8')) })),
  );
}

/** The report of a name. */
export async function readReport(name) {
  const found = (await readReports()).find((report) => report.name === name);
  if (!found) throw new Error(`there is no report ${name}`);
  return found;
}
