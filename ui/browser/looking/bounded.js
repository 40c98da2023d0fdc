// Tests that end: what waits for something that never comes fails, instead of holding up all the others.
import { after as afterAll, before as beforeAll, test as anyTest } from 'node:test';
import { closeAll, hasStuckPage } from './browser.js';

/** Milliseconds that a look may take, a test, which looks twice at most, and what is done before and after tests. */
const LOOK_MAX = 180_000;
const TEST_MAX = 2 * LOOK_MAX + 30_000;
const HOOK_MAX = 60_000;

/** A test. Whatever it leaves open is closed; and what failed on a page that is stuck is looked at once more. */
export const test = (name, look) => anyTest(name, { timeout: TEST_MAX }, () => lookAgain(name, look));
export const before = (prepare) => beforeAll(prepare, { timeout: HOOK_MAX });
export const after = (finish) => afterAll(finish, { timeout: HOOK_MAX });

async function lookAgain(name, look) {
  try {
    // A page that is stuck may also leave a question unanswered for ever.
    await within(LOOK_MAX, name, look());
  } catch (error) {
    if (!(await hasStuckPage())) throw error;
    console.error(`${name}: a page got no frames, so all is looked at once more. It was: ${error.message}`);
    await closeAll();
    await look();
  } finally {
    await closeAll();
  }
}

/** Whatever is awaited, or an error that says what did not come in time. */
export async function within(milliseconds, what, promise) {
  let bell;
  const late = new Promise((_, reject) => {
    bell = setTimeout(() => reject(new Error(`${what} did not happen within ${milliseconds / 1e3} s`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(bell);
  }
}
