// Reads and works with the page of a server: its list of runs, and what it says of what was done.
import assert from 'node:assert/strict';
import { makePlace, removePlace, startServer } from '../making/server.js';
import { openServed, scrollThrough, settle } from './browser.js';
import { barriers, faults } from './pages.js';

/** A server with a history of its own while it is used, started with more words when there are any. */
export async function withServer(use, { words, ...options } = {}) {
  const place = await makePlace(options);
  try {
    await use({ place, server: await startServer(place, 0, words) });
  } finally {
    await removePlace(place);
  }
}

/** A page of a server while it is used, which has to be without a fault at its end. */
export function withPage(browser, { isFilled, words, ...options }, use) {
  const look = async ({ place, server }) => {
    const { page, trouble, close } = await openServed(browser, server, options);
    await use({ page, trouble, place, server });
    await assertGood(page, trouble);
    await close();
  };
  return withServer(look, { isFilled, words });
}

/** Whatever is shown now has no fault. */
export async function assertGood(page, trouble) {
  const found = [...(await faults(page, trouble)), ...(await barriers(page))];
  assert.equal(found.join('\n'), '', await page.evaluate(() => location.hash));
}

/** Takes what Chromium itself writes when it gets no answer, or one with this status, out of what is wrong. */
export function expectRefusal(trouble, refusal) {
  const isExpected = (line) => line.startsWith('console error: Failed to load resource') && line.includes(refusal);
  const found = trouble.filter(isExpected);
  assert.ok(found.length > 0, `nothing was refused with ${refusal}: ${trouble.join('\n')}`);
  for (const line of found) trouble.splice(trouble.indexOf(line), 1);
}

/** Waits for the report that was asked for, with all that it draws. */
export async function settleReport(page) {
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await settle(page);
  await scrollThrough(page);
}

/** The names of runs that are listed, from the top down. */
export function namesOf(page) {
  return page.$$eval('table.runs td.name a', (all) => all.map((link) => link.innerText));
}

/** Waits until the list says this of its length. */
export async function waitForTotal(page, text) {
  await page.locator('main [role=status]', { hasText: text }).first().waitFor();
}

/** The line or card of a run. */
export function rowOf(page, name) {
  return page.locator('tr.run').filter({ has: page.getByRole('link', { name, exact: true }) });
}

/** Drops files with texts onto the page, as somebody does who drags them there. */
export async function dropFiles(page, files) {
  const dataTransfer = await page.evaluateHandle((all) => {
    const carried = new DataTransfer();
    for (const [name, text] of Object.entries(all)) carried.items.add(new File([text], name));
    return carried;
  }, files);
  for (const step of ['dragenter', 'dragover', 'drop']) await page.dispatchEvent('main', step, { dataTransfer });
}

/** Waits for what became of a file, and answers it. */
export async function importOf(page, name) {
  const line = page.getByLabel('Imported files').locator('li', { hasText: name });
  await line.filter({ hasText: /[✓✕]/ }).waitFor();
  return (await line.innerText()).replace(/\s+/g, ' ');
}
