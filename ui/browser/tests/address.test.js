// The address carries what is shown: opened anew it leads to the same view, and to the chart that it names.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { goTo, openReport, scrollThrough, settle, startBrowser } from '../looking/browser.js';
import { differences, pagesOf, shown } from '../looking/pages.js';
import { readReport, readReports } from '../making/reports.js';

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

/** What an address shows when it is opened by itself. */
async function shownAt(report, hash) {
  const { page, close } = await openReport(browser, report, { hash });
  await scrollThrough(page);
  const view = await shown(page);
  await close();
  return view;
}

/** Opens a page of a report, makes choices, and opens the address anew. */
async function assertSameView(name, hash, choose) {
  const report = await readReport(name);
  const { page, close } = await openReport(browser, report, { hash });
  await scrollThrough(page);
  const before = await shown(page);
  await choose(page);
  await settle(page);
  await scrollThrough(page);
  const view = await shown(page);
  assert.notDeepEqual(view, before, 'the choice shows something else');
  const address = await page.evaluate(() => location.hash);
  assert.notEqual(address, hash);
  assert.equal(differences(view, await shownAt(report, address)).join('\n'), '');
  await close();
}

test('every page of every report has an address', async () => {
  for (const report of await readReports()) {
    const { page, close } = await openReport(browser, report);
    for (const { name, hash } of await pagesOf(page)) {
      await goTo(page, hash);
      const current = await page.$eval('nav[aria-label="Pages"] [aria-current=page]', (link) => link.textContent);
      assert.equal(current.toLowerCase(), name, `${report.name}: ${hash}`);
      assert.ok((await page.title()).toLowerCase().endsWith(name), await page.title());
    }
    await close();
  }
});

test('the reference and the scale of a comparison are in the address', async () => {
  await assertSameView('000', '#/compare', (page) => page.locator('main input[type=radio]').nth(1).check());
  await assertSameView('000', '#/compare', (page) => page.getByLabel('Logarithmic scale').check());
});

test('what a sweep shows is in the address', async () => {
  await assertSameView('sweep', '#/sweep', (page) => page.locator('main input[type=radio]').nth(2).check());
});

test('which claims are shown is in the address', async () => {
  await assertSameView('claims', '#/claims', (page) => page.locator('main input[type=radio]').nth(2).check());
});

test('the scale of files is in the address', async () => {
  await assertSameView('001', '#/files', (page) => page.getByLabel('logarithmic').check());
});

test('each run has an address', async () => {
  const report = await readReport('history');
  for (const run of report.document.runs) {
    const view = await shownAt(report, `#/run/${run.id}`);
    assert.ok(view.text.startsWith(run.name), view.text.slice(0, 80));
  }
});

test('a link to a chart leads to it', async () => {
  const report = await readReport('001');
  const { page, close } = await openReport(browser, report, { hash: '#/files?at=files-4' });
  await page.waitForFunction(() => {
    const { top } = document.getElementById('files-4').getBoundingClientRect();
    return top > -40 && top < 200;
  });
  await close();
});

test('a link to a chart that was followed leads to it again', async () => {
  const { page, close } = await openReport(browser, await readReport('001'), { hash: '#/files?at=files-4' });
  const top = () => page.$eval('#files-4', (chart) => chart.getBoundingClientRect().top);
  await page.waitForFunction(() => document.getElementById('files-4').getBoundingClientRect().top < 200);
  await page.evaluate(() => scrollTo(0, 0));
  assert.ok((await top()) > 200, 'the chart is at the top of the page');
  // It is followed where one is, because whoever clicks brings it into view.
  await page.$eval('#files-4 a.anchor', (link) => link.click());
  await page.waitForFunction(() => document.getElementById('files-4').getBoundingClientRect().top < 200);
  await close();
});

test('an address that leads nowhere leads to the first page', async () => {
  for (const hash of ['#/sweep', '#/nowhere?a=%zz', '#/run/none', '#/run/%E0%A4%A']) {
    const { page, trouble, close } = await openReport(browser, await readReport('one-run'), { hash });
    assert.ok(await page.$('main h2'), hash);
    assert.deepEqual(trouble, []);
    await close();
  }
});
