// A report can be printed, and is afterwards what it was; and it can be read without scripts.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { goTo, NARROW, openReport, scrollThrough, settle, startBrowser, WIDE } from '../looking/browser.js';
import { differences, overflow, pagesOf, shown } from '../looking/pages.js';
import { readReport, readReports } from '../making/reports.js';

/** What is printed is drawn at this width. */
const PAPER = 680;

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

/** Does what a reader has done before printing: unfolds something, sorts a table, goes down. */
async function arrange(page) {
  await page.$$eval('main details', ([first]) => (first ? (first.open = true) : null));
  await settle(page);
  await page.$$eval('main th button', ([first]) => first?.click());
  await page.evaluate(() => scrollTo(0, 200));
  await settle(page);
}

for (const [name, scheme] of [['compare', 'dark'], ['001', 'light'], ['hostile', 'light'], ['sweep', 'dark']]) {
  test(`${name} is printed from ${scheme} colours, and is as before afterwards`, async () => {
    const { page, trouble, close } = await openReport(browser, await readReport(name), { scheme });
    const pages = await pagesOf(page);
    const { hash } = pages.find((each) => ['compare', 'files', 'sweep'].includes(each.name)) ?? pages[0];
    await goTo(page, hash);
    await scrollThrough(page);
    await arrange(page);
    const before = await shown(page);
    // A short page does not go down as far as it was asked to.
    const wasAt = await page.evaluate(() => scrollY);
    const paper = (await page.pdf({ format: 'A4', printBackground: true })).toString('latin1');
    await settle(page);
    assert.ok(paper.startsWith('%PDF') && paper.length > 20_000, `${paper.length} bytes`);
    const sheets = paper.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    assert.ok(sheets >= pages.length, `${sheets} sheets for ${pages.length} pages`);
    const top = await page.evaluate(() => scrollY);
    await scrollThrough(page);
    assert.equal(differences(before, await shown(page)).join('\n'), '');
    assert.equal(top, wasAt, 'another part of the page is shown');
    assert.deepEqual(trouble, []);
    await close();
  });
}

test('on paper every page is there, in light colours, and every chart is drawn', async () => {
  const { page, close } = await openReport(browser, await readReport('000'), { scheme: 'dark' });
  const pages = await pagesOf(page);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const heads = await page.$$eval('main h2', (all) => all.map((head) => head.textContent));
  for (const { name } of pages.filter((each) => each.name !== 'run')) {
    assert.ok(heads.some((head) => head.toLowerCase() === name), `${name} is not among ${heads.join(', ')}`);
  }
  const light = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(light, 'rgb(255, 255, 255)');
  const charts = await page.$$eval('[data-chart]', (all) =>
    all.map((box) => ({ name: box.dataset.chart, width: box.querySelector('svg')?.getBoundingClientRect().width })),
  );
  assert.ok(charts.length > 0);
  assert.deepEqual(charts.filter((chart) => chart.width !== PAPER), []);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await close();
});

for (const width of [WIDE, NARROW]) {
  test(`without scripts the numbers can be read, at ${width} pixels`, async () => {
    for (const report of await readReports()) {
      const { page, trouble, close } = await openReport(browser, report, { width, scripts: false });
      const text = (await page.locator('body').innerText()).replace(/\s+/g, ' ');
      const [run] = report.document.runs;
      assert.ok(text.length > 200, `${report.name}: ${text}`);
      if (report.name !== 'hostile') {
        // Text has as many columns as fit into its lines.
        const [number] = run.tables[0].columns.filter((column) => column.is_number).map((column) => column.values[0]);
        assert.ok(text.includes(number), `${report.name}: ${number} is not there`);
        assert.ok(text.includes(run.name), `${report.name}: ${run.name} is not there`);
      }
      const { pixels } = await overflow(page);
      assert.ok(pixels <= 0, `${report.name}: ${pixels} pixels wider than its window`);
      assert.deepEqual(trouble, [], report.name);
      await close();
    }
  });
}
