// Names that are markup, scripts or far too long are text: nothing of them runs, and nothing is wider than a hand.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { goTo, NARROW, openReport, scrollThrough, startBrowser } from '../looking/browser.js';
import { overflow, pagesOf, unfold } from '../looking/pages.js';
import { IMAGE, SCRIPT } from '../making/hostile.js';
import { readReport } from '../making/reports.js';

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

const isHacked = (page) => page.evaluate(() => 'hacked' in window);
const foreign = (page) => page.$$eval('main img, main script, header img, header script', (all) => all.length);

/** Marks that turn the direction of what follows: whoever reads would see another text than stands there. */
const TURNS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

test('nothing of what stands in a record runs', async () => {
  const report = await readReport('hostile');
  const { page, trouble, close } = await openReport(browser, report, { width: NARROW });
  const read = async (hash) => {
    await goTo(page, hash);
    await scrollThrough(page);
    await unfold(page);
    // Texts that come with the pointer are made of names too.
    for (const box of await page.$$('[data-chart] svg')) {
      await box.scrollIntoViewIfNeeded();
      const { x, y, width, height } = await box.boundingBox();
      for (const [across, down] of [[0.3, 0.3], [0.5, 0.5], [0.4, 0.75]]) {
        await page.mouse.move(x + width * across, y + height * down);
      }
    }
    assert.equal(await isHacked(page), false, hash);
    assert.equal(await foreign(page), 0, hash);
    assert.deepEqual(await overflow(page), { pixels: 0, out: [] }, hash);
    return page.locator('body').innerText();
  };
  for (const { name, hash } of await pagesOf(page)) {
    const text = await read(hash);
    assert.ok(text.includes(SCRIPT) && text.includes(IMAGE), `${name} does not show the names as text`);
    assert.doesNotMatch(text, TURNS, name);
  }
  assert.doesNotMatch(await page.content(), TURNS);
  const title = await page.title();
  assert.doesNotMatch(title, TURNS);
  assert.ok(title.startsWith(SCRIPT), title.slice(0, 80));
  assert.deepEqual(trouble, []);
  await close();
});

test('an address cannot bring anything that runs', async () => {
  const report = await readReport('hostile');
  const hashes = [`#/run/${SCRIPT}`, `#/compare?reference=${IMAGE}&at=${SCRIPT}`, '#/run/javascript:window.hacked=1'];
  for (const hash of hashes) {
    const { page, trouble, close } = await openReport(browser, report, { hash });
    assert.equal(await isHacked(page), false, hash);
    assert.equal(await foreign(page), 0, hash);
    assert.deepEqual(trouble, [], hash);
    await close();
  }
});

test('without scripts names are text too', async () => {
  const report = await readReport('hostile');
  const { page, trouble, close } = await openReport(browser, report, { width: NARROW, scripts: false });
  const text = await page.locator('body').innerText();
  assert.ok(text.includes('window.hacked=1'));
  assert.doesNotMatch(text, TURNS);
  assert.equal(await page.locator('img').count(), 0);
  assert.deepEqual(trouble, []);
  await close();
});
