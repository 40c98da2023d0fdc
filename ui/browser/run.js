// Runs all tests: makes the reports once, runs the files of tests beside each other, and ends with a line that counts
// them. Words in the command line choose the files whose names have one of them.
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeReports } from './making/reports.js';

/** Files of tests that run at once, and milliseconds after which one of them has failed. */
const BESIDE = 2;
const FILE_MAX = 600_000;

const LONGEST = ['wide.test.js', 'narrow.test.js', 'serve_live.test.js', 'serve_changes.test.js'];

const TESTS = fileURLToPath(new URL('tests', import.meta.url));

/** Why nothing can be tested; null when everything is there. */
function missing() {
  process.env.CHROMIUM ??= '/usr/bin/chromium';
  if (!existsSync(process.env.CHROMIUM)) return `the tests in a browser, because there is no ${process.env.CHROMIUM}`;
  return null;
}

/** The files of tests that are chosen; those that take longest come first, so that none of them is left at the end. */
async function chosen(words) {
  const files = (await readdir(TESTS)).filter((file) => file.endsWith('.test.js'));
  const isChosen = (file) => words.length === 0 || words.some((word) => file.includes(word));
  const place = (file) => (LONGEST.includes(file) ? LONGEST.indexOf(file) : LONGEST.length);
  const inOrder = files.filter(isChosen).sort((one, other) => place(one) - place(other) || (one < other ? -1 : 1));
  return inOrder.map((file) => join(TESTS, file));
}

/** Runs a file of tests, counts those that passed, and keeps why others failed. */
async function runFile(file, results) {
  const isTest = (data) => data.details.type !== 'suite' && data.name !== file;
  const events = run({ files: [file], timeout: FILE_MAX });
  events.on('test:pass', (data) => (results.passed += isTest(data) ? 1 : 0));
  events.on('test:fail', (data) => {
    const { error } = data.details;
    // A file of tests fails when one of its tests does, which is no second failure.
    if (!isTest(data) && error.failureType === 'subtestsFailed') return;
    const name = `${basename(file)}: ${isTest(data) ? data.name : 'the file'}`;
    console.log(`test ${name} ... FAILED`);
    const why = error.cause ?? error;
    const text = why.expected === '' ? why.actual : (why.message ?? why);
    results.failures.push(`---- ${name} ----`, String(text).slice(0, 4_000));
    results.failed += 1;
  });
  events.on('test:stderr', ({ message }) => process.stderr.write(message));
  for await (const event of events) void event;
}

/** Runs files of tests beside each other; the answer is how many tests passed and failed, and why. */
async function runTests(files) {
  const results = { passed: 0, failed: 0, failures: [] };
  const waiting = [...files];
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) await runFile(file, results);
  };
  await Promise.all(Array.from({ length: BESIDE }, work));
  return results;
}

async function main() {
  const reason = missing();
  if (reason) {
    console.log(process.env.CI === undefined ? `skipped: ${reason}` : `failed: ${reason}`);
    return process.env.CI === undefined;
  }
  if (!process.env.PLIMSOLL) {
    console.log('PLIMSOLL is the path of the program whose reports are tested: set it');
    return false;
  }
  // Reports that are there already are used again, so that a test can be worked on.
  const isKept = process.env.REPORTS !== undefined;
  const folder = process.env.REPORTS ?? (await mkdtemp(join(tmpdir(), 'plimsoll-browser-')));
  process.env.REPORTS = folder;
  const remove = () => (isKept ? undefined : rm(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      await remove();
      process.exit(1);
    });
  }
  try {
    const started = Date.now();
    if (!existsSync(join(folder, 'reports.json'))) await makeReports(folder);
    console.log(`reports made in ${((Date.now() - started) / 1e3).toFixed(1)} s`);
    const { passed, failed, failures } = await runTests(await chosen(process.argv.slice(2)));
    if (failed > 0) console.log(['failures:', ...failures].join('\n'));
    const word = failed === 0 && passed > 0 ? 'ok' : 'FAILED';
    console.log(`tests ended after ${((Date.now() - started) / 1e3).toFixed(1)} s`);
    console.log(`test result: ${word}. ${passed} passed; ${failed} failed; 0 ignored`);
    return word === 'ok';
  } catch (error) {
    console.log(`the reports could not be made: ${error.message}`);
    console.log('test result: FAILED. 0 passed; 1 failed; 0 ignored');
    return false;
  } finally {
    await remove();
  }
}

process.exitCode = (await main()) ? 0 : 1;
