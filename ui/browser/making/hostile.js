// Makes a record whose names are markup, scripts, marks that turn the direction of writing, and far too long.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plimsoll } from './program.js';

export const SCRIPT = '</script><script>window.hacked=1</script>';
export const IMAGE = '<img src=x onerror=window.hacked=1>';
export const TURNED = '\u202Eright to left\u202C';
const LONG = 'a_name_without_any_blank_'.repeat(410);
const COMMENT = '<!--noscript--><title>x</title>{a|b}${c}%CSP%&amp;';

/** What the report is called. */
export const TITLE = `${SCRIPT}${IMAGE} title ${TURNED} ${LONG}`;

/** Edits an exported record; the answer is where the new one is. */
export async function makeHostile(folder, history, run) {
  const record = JSON.parse(await plimsoll(folder, 'show', run, '--json', '--history', history));
  const renamed = new Map();
  const rename = (text, mark) => {
    if (!renamed.has(text)) renamed.set(text, `${text} ${mark}`);
    return renamed.get(text);
  };
  const targets = record.asked.targets;
  record.asked.targets = targets.map((target, index) => rename(target, index === 0 ? SCRIPT + LONG : IMAGE + TURNED));
  const marks = [IMAGE, SCRIPT + COMMENT, LONG + IMAGE];
  [...new Set(record.cells.map((cell) => cell.workload))].forEach((name, index) => rename(name, marks[index % 3]));
  record.name = `${SCRIPT}${IMAGE}${TURNED}`;
  record.tags = { [`${IMAGE}key`]: `${SCRIPT}${LONG}`, turned: TURNED };
  for (const place of [...record.environment.targets, ...record.cells, ...(record.layouts ?? [])]) {
    for (const key of ['target', 'name', 'workload']) {
      if (renamed.has(place[key])) place[key] = renamed.get(place[key]);
    }
  }
  const finding = (severity, text) => ({ code: 'told-doubt', severity, text, evidence: {} });
  for (const cell of record.cells) {
    cell.findings.push(finding('warning', `${SCRIPT}${IMAGE}`), finding('info', LONG), finding('error', COMMENT));
  }
  Object.assign(record.environment.machine, { hostname: IMAGE + LONG, processor_model: SCRIPT });
  record.warnings.push(`${TURNED}${SCRIPT}${IMAGE}${LONG}`);
  const path = join(folder, 'hostile.json');
  await writeFile(path, JSON.stringify(record));
  return path;
}
