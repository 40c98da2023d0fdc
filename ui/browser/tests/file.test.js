// The file that a report is: the page as it is built, with a document in it, and nothing else.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from '../looking/bounded.js';
import { readReport, readReports } from '../making/reports.js';

const UI = fileURLToPath(new URL('../..', import.meta.url));
const DATA = ['<script type="application/json" id="report-data">', '</script>'];
/** Milliseconds that the page may take to be built. */
const BUILD_MAX = 120_000;
const execute = promisify(execFile);

/** The text between two marks, and the file with another text there. */
function between(file, [begin, end], other) {
  const from = file.indexOf(begin) + begin.length;
  const to = file.indexOf(end, from);
  assert.ok(from >= begin.length && to >= from, `${begin} is not there`);
  return { text: file.slice(from, to), file: file.slice(0, from) + other + file.slice(to) };
}

test('a report without its document is the page as it is built', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-page-'));
  try {
    await execute('npm', ['run', 'build', '--', '--outDir', folder, '--emptyOutDir'], { cwd: UI, timeout: BUILD_MAX });
    const built = await readFile(join(folder, 'index.html'), 'utf8');
    for (const name of ['000', 'hostile']) {
      let { file } = between(await readFile((await readReport(name)).html, 'utf8'), DATA, 'null');
      file = between(file, ['<title>', '</title>'], 'plimsoll report').file;
      file = between(file, ['<noscript>', '</noscript>'], '<!--noscript-->').file;
      assert.ok(file.includes("connect-src 'none'"), 'a report that is sent may reach something');
      // What is served may reach its server.
      assert.equal(file, built.replace("connect-src 'self'", "connect-src 'none'"));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('what a page shows is what the report says as JSON', async () => {
  for (const report of await readReports()) {
    const shown = JSON.parse(between(await readFile(report.html, 'utf8'), DATA, '').text);
    assert.ok(Date.parse(shown.created) > 0);
    assert.deepEqual({ ...shown, created: '' }, { ...report.document, created: '' }, report.name);
  }
});

test('nothing in a report is loaded from elsewhere', async () => {
  for (const report of await readReports()) {
    const { file } = between(await readFile(report.html, 'utf8'), DATA, 'null');
    const page = between(file, ['<noscript>', '</noscript>'], '').file.replace(/<script[\s\S]*?<\/script>/g, '');
    const found = page.match(/(?:src|href)="(?!data:)[^"]*"|@import|url\((?!["']?data:)[^)]*\)/g);
    assert.equal(found, null, report.name);
  }
});
