// Runs plimsoll, the program whose pages are tested.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Milliseconds that it may take. */
const TIME_MAX = 120_000;
const execute = promisify(execFile);

/** Runs it with arguments in a folder; the answer is what it prints. */
export function plimsoll(folder, ...words) {
  return plimsollWith(process.env, folder, ...words);
}

/** The same with another environment. */
export async function plimsollWith(environment, folder, ...words) {
  const options = { cwd: folder, maxBuffer: 1 << 28, timeout: TIME_MAX, env: { ...environment, NO_COLOR: '1' } };
  try {
    const { stdout } = await execute(process.env.PLIMSOLL, words, options);
    return stdout;
  } catch (error) {
    throw new Error(`plimsoll ${words.join(' ')}: ${error.stderr || error.message}`);
  }
}
