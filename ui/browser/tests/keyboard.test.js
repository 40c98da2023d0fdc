// Everything can be reached and worked with keys alone.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { NARROW, openReport, settle, startBrowser, WIDE } from '../looking/browser.js';
import { tabThrough } from '../looking/keys.js';
import { readReport } from '../making/reports.js';

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

for (const width of [WIDE, NARROW]) {
  test(`tab reaches all pages, tables and switches, and one sees where one is, at ${width} pixels`, async () => {
    const { page, close } = await openReport(browser, await readReport('000'), { width, hash: '#/compare' });
    const stops = await tabThrough(page);
    assert.equal(stops[0].name, 'Skip to the content');
    const names = stops.map((stop) => stop.name);
    for (const name of ['Overview', 'Run', 'Compare', 'Expected', 'Light', 'Dark', 'Copy as CSV']) {
      assert.ok(names.includes(name), `${name} is not among ${names.join(', ')}`);
    }
    assert.ok(stops.some((stop) => stop.type === 'radio'), 'the reference cannot be reached');
    assert.ok(stops.some((stop) => stop.tag === 'summary'), 'the numbers of charts cannot be reached');
    assert.deepEqual(stops.filter((stop) => !stop.isVisible).map((stop) => `${stop.tag} ${stop.name}`), []);
    await close();
  });
}

test('enter goes to a page, and the first tab skips the way there', async () => {
  const { page, close } = await openReport(browser, await readReport('000'));
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await page.reload();
  await settle(page);
  await tabThrough(page, (stop) => stop.tag === 'a' && stop.name === 'Compare');
  await page.keyboard.press('Enter');
  await settle(page);
  assert.equal(await page.$eval('main h2', (head) => head.textContent), 'Compare');
  await close();
});

test('a table is sorted by keys, up, down and as it was', async () => {
  const { page, close } = await openReport(browser, await readReport('001'), { hash: '#/run' });
  const column = () =>
    page.$eval('main table', (table) => [...table.tBodies[0].rows].map((row) => row.cells[0].innerText.trim()));
  const before = await column();
  const stops = await tabThrough(page, (stop) => stop.tag === 'button' && /^(IOPS|MB\/s)/.test(stop.name));
  assert.match(stops.at(-1).name, /^(IOPS|MB\/s)/);
  const order = () =>
    page.evaluate(() => document.activeElement.closest('th').getAttribute('aria-sort'));
  await page.keyboard.press('Enter');
  const [first, once] = [await order(), await column()];
  await page.keyboard.press('Space');
  const [second, twice] = [await order(), await column()];
  await page.keyboard.press('Enter');
  assert.deepEqual([first, second].sort(), ['ascending', 'descending']);
  assert.notDeepEqual(once, twice);
  assert.ok([...once, ...twice].every((name) => name !== ''), 'a row does not say what it is about');
  assert.equal(await order(), 'none');
  assert.deepEqual(await column(), before);
  await close();
});

test('the reference is chosen by keys', async () => {
  const { page, close } = await openReport(browser, await readReport('000'), { hash: '#/compare' });
  await tabThrough(page, (stop) => stop.type === 'radio');
  await page.keyboard.press('ArrowDown');
  await settle(page);
  assert.match(await page.evaluate(() => location.hash), /reference=B/);
  assert.ok(await page.evaluate(() => document.activeElement.checked), 'the focus is lost');
  await close();
});

test('a theme is chosen by keys', async () => {
  const { page, close } = await openReport(browser, await readReport('000'));
  const surface = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await surface();
  await tabThrough(page, (stop) => stop.name === 'Dark');
  await page.keyboard.press('Enter');
  assert.notEqual(await surface(), light);
  await close();
});
