// Starts `plimsoll serve`, and runs beside it, in a folder that has a history and a state of its own.
import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { within } from '../looking/bounded.js';
import { plimsollWith } from './program.js';

/** Milliseconds until a server says where it is, and until what was asked to end has ended. */
const START_MAX = 20_000;
const END_MAX = 60_000;

/** What is told of runs is kept here, and not where the user has it. */
function environmentOf(folder) {
  const homes = ['STATE', 'DATA', 'CONFIG', 'CACHE'].map((what) => [`XDG_${what}_HOME`, join(folder, what)]);
  return { ...process.env, ...Object.fromEntries(homes), NO_COLOR: '1' };
}

/** A child that ends when it is told to; what is awaited is its end. */
function start(place, words, output) {
  const child = spawn(process.env.PLIMSOLL, words, { cwd: place.folder, env: place.env, stdio: output });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  child.once('error', () => undefined);
  place.children.add(child);
  ended.then(() => place.children.delete(child));
  const end = (signal) => {
    child.kill(signal);
    return within(END_MAX, `the end of plimsoll ${words[0]}`, ended);
  };
  return { child, ended: () => within(END_MAX, `the end of plimsoll ${words[0]}`, ended), end };
}

/** A folder to measure and serve in. With `isFilled` its history has the runs that reports are made of. */
export async function makePlace({ isFilled = true } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-serve-'));
  const place = { folder, env: environmentOf(folder), children: new Set(), history: join(folder, 'history.db') };
  await mkdir(join(folder, 'disk'));
  if (isFilled) await copyFile(join(process.env.REPORTS, 'history.ndjson'), place.history);
  return place;
}

/** Ends all that was started in a place, and removes it. */
export async function removePlace(place) {
  const ends = [...place.children].map((child) => new Promise((resolve) => child.once('exit', resolve)));
  for (const child of place.children) child.kill('SIGKILL');
  await within(END_MAX, 'the end of what was started', Promise.all(ends));
  await rm(place.folder, { recursive: true, force: true });
}

/** The runs of the history, the newest first, as the program itself lists them. */
export async function runsOf(place) {
  return JSON.parse(await plimsollWith(place.env, place.folder, 'history', '--json', '--history', place.history));
}

/** Starts a server, at a port when one is named, with more words when there are any. */
export async function startServer(place, port = 0, more = []) {
  const words = ['serve', '--listen', `127.0.0.1:${port}`, '--history', place.history, ...more];
  const { child, end } = start(place, words, ['ignore', 'pipe', 'inherit']);
  const address = new Promise((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const found = line.match(/http:\/\/[\d.]+:\d+/);
      if (found) resolve(found[0]);
    });
    child.once('exit', (code) => reject(new Error(`plimsoll serve ended with ${code}`)));
  });
  const origin = await within(START_MAX, 'the start of plimsoll serve', address);
  return { origin, port: Number(new URL(origin).port), kill: () => end('SIGKILL'), stop: () => end('SIGINT') };
}

/** Begins a run of a folder, which takes so many seconds. */
export function startRun(place, name, seconds, ...words) {
  const load = ['--rw', 'randread', '--size', '16m', '--ramp', '0s', '--duration', `${seconds}s`];
  const all = ['run', 'disk', '--history', place.history, '--name', name, '--quiet', ...load, ...words];
  return start(place, all, 'ignore');
}
