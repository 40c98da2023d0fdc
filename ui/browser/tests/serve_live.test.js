// Runs that are going on, in the page of a server: seen as they begin, followed to their end, and found in the list;
// also when the server goes away in the middle.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { NARROW, startBrowser, WIDE } from '../looking/browser.js';
import { assertGood, expectRefusal, namesOf, settleReport, waitForTotal, withPage } from '../looking/served.js';
import { runsOf, startRun, startServer } from '../making/server.js';

/** Milliseconds in which a page that lost its server has to find it again. */
const BACK_MAX = 20_000;
/** And until it shows a chart of what was measured: a server that answers late is asked less often. */
const SO_FAR_MAX = 60_000;

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

/** What is said under a head, as `IOPS now`. */
function valueOf(page, head) {
  return page.locator('dl div', { hasText: head }).locator('dd').innerText();
}

/** Waits until the page of a run shows its rates over time. */
async function waitForRates(page) {
  await page.locator('[data-chart="live-rates"] svg path').first().waitFor({ state: 'attached' });
  await page.locator('dl div', { hasText: 'IOPS now' }).locator('dd', { hasText: /\d/ }).waitFor();
}

/** What Chromium says when nobody answers, or no longer knows of a run, is no fault of the page. */
function allowSilence(trouble, ...others) {
  const said = ['net::ERR_', ...others].map((why) => `console error: Failed to load resource: ${why}`);
  const isFault = (line) => !said.some((text) => line.startsWith(text));
  trouble.splice(0, Infinity, ...trouble.filter(isFault));
}

/** Follows a run that is shown to its end, and to its report and the list. */
async function followToEnd(page, trouble, name) {
  await page.getByText('✓ This run has ended.').waitFor();
  await assertGood(page, trouble);
  await page.getByRole('link', { name: 'Open its report' }).click();
  await settleReport(page);
  assert.ok((await page.locator('main').innerText()).includes(name));
  await assertGood(page, trouble);
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await waitForTotal(page, '1 to 1 of 1 run');
  assert.deepEqual(await namesOf(page), [name]);
}

for (const width of [WIDE, NARROW]) {
  test(`a run is seen as it begins and followed to its end, at ${width} pixels`, async () => {
    await withPage(browser, { width, isFilled: false, hash: '#/live' }, async ({ page, trouble, place }) => {
      await page.getByText('Nothing is going on.').waitFor();
      await assertGood(page, trouble);
      const run = startRun(place, 'seen live', 8);
      await page.getByText('1 run going on', { exact: true }).waitFor();
      await assertGood(page, trouble);
      await page.getByRole('link', { name: 'seen live' }).click();
      await page.getByRole('heading', { name: 'seen live', level: 1 }).waitFor();
      await waitForRates(page);
      assert.match(await valueOf(page, 'since the start'), /\d/);
      assert.match(await page.title(), /^seen live · Live/);
      await page.getByRole('progressbar', { name: 'How much is done' }).waitFor();
      // What there is so far is a report like any other.
      await page.locator('#so-far #numbers').waitFor();
      await assertGood(page, trouble);
      await followToEnd(page, trouble, 'seen live');
      assert.deepEqual(await run.ended(), { code: 0, signal: null });
      assert.deepEqual((await runsOf(place)).map((each) => each.name), ['seen live']);
      await page.getByRole('link', { name: 'Live', exact: true }).click();
      await page.getByText('Nothing is going on.').waitFor();
      await page.getByRole('heading', { name: 'Over' }).waitFor();
    });
  });
}

test('links on the page of a run that is going on lead to its charts, also when it is opened anew', async () => {
  await withPage(browser, { isFilled: false, hash: '#/live' }, async ({ page, trouble, place }) => {
    // One workload: of several the seed says which comes first and has a chart.
    const run = startRun(place, 'looked into', 120);
    await page.getByRole('link', { name: 'looked into' }).click();
    const chart = page.locator('#so-far #rates-0');
    await chart.waitFor({ timeout: SO_FAR_MAX });
    const top = () => chart.evaluate((element) => element.getBoundingClientRect().top);
    const isThere = () =>
      page.waitForFunction(() => {
        const at = document.getElementById('rates-0')?.getBoundingClientRect().top ?? -1;
        return at > -40 && at < 200;
      });
    await page.evaluate(() => scrollTo(0, 0));
    assert.ok((await top()) > 200, 'the chart is at the top of the page');
    await chart.locator('a.anchor').evaluate((link) => link.click());
    await isThere();
    assert.match(page.url(), /#\/live\/.*at=rates-0$/);
    await page.reload();
    await chart.waitFor({ timeout: SO_FAR_MAX });
    await isThere();
    // What is drawn later moves nobody.
    await page.evaluate(() => scrollTo(0, 0));
    await page.waitForResponse(/\/api\/live\//);
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => scrollY), 0);
    assert.deepEqual(trouble, []);
    await run.end('SIGKILL');
  });
});

test('the list has a run as soon as it has ended, without anybody asking', async () => {
  await withPage(browser, { isFilled: false }, async ({ page, place }) => {
    await waitForTotal(page, 'The history has no runs yet.');
    const run = startRun(place, 'comes by itself', 2);
    await page.getByRole('navigation', { name: 'Runs and' }).getByText('1 run going on').waitFor();
    await waitForTotal(page, '1 to 1 of 1 run');
    assert.deepEqual(await namesOf(page), ['comes by itself']);
    await run.ended();
  });
});

for (const width of [WIDE, NARROW]) {
  test(`a page that loses its server says so, finds it again and follows to the end, at ${width} pixels`, async () => {
    const options = { width, isFilled: false, hash: '#/live' };
    await withPage(browser, options, async ({ page, trouble, place, server }) => {
      const run = startRun(place, 'outlives it', 14);
      await page.getByRole('link', { name: 'outlives it' }).click();
      await waitForRates(page);
      await assertGood(page, trouble);
      const gone = page.getByText('The server does not answer: what is shown is the last it said.');
      assert.equal(await gone.count(), 0);
      await server.kill();
      await gone.waitFor();
      await page.getByText('▲ reconnecting').waitFor();
      expectRefusal(trouble, 'ERR_');
      assert.ok((await page.locator('[data-chart="live-rates"] svg path').count()) > 0, 'what was heard is gone');
      await assertGood(page, trouble);
      const again = await startServer(place, server.port);
      assert.equal(again.origin, server.origin);
      await gone.waitFor({ state: 'detached', timeout: BACK_MAX });
      await page.getByText('✓ connected').waitFor();
      // Until then it may have asked more than once.
      await page.waitForTimeout(100);
      allowSilence(trouble);
      assert.equal(await page.getByText('✓ This run has ended.').count(), 0, 'it came back after the end of the run');
      await waitForRates(page);
      await followToEnd(page, trouble, 'outlives it');
      assert.deepEqual(await run.ended(), { code: 0, signal: null });
    });
  });
}

test('the end of a run is found that came while there was no server', async () => {
  await withPage(browser, { isFilled: false, hash: '#/live' }, async ({ page, trouble, place, server }) => {
    const run = startRun(place, 'ends alone', 4);
    await page.getByRole('link', { name: 'ends alone' }).click();
    await page.getByRole('heading', { name: 'ends alone', level: 1 }).waitFor();
    await server.kill();
    await page.getByText('▲ reconnecting').waitFor();
    assert.deepEqual(await run.ended(), { code: 0, signal: null });
    await startServer(place, server.port);
    await page.getByText('✓ This run has ended.').waitFor({ timeout: BACK_MAX });
    allowSilence(trouble, 'the server responded with a status of 404');
  });
});
