// What charts draw of a run is what was measured: lines, marks and words in the drawing beside the document.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { openReport, scrollThrough, startBrowser } from '../looking/browser.js';
import { barsOf, textsOf } from '../looking/charts.js';
import { NIGHTS } from '../making/measured.js';
import { readReport } from '../making/reports.js';

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

async function open(name, hash) {
  const report = await readReport(name);
  const opened = await openReport(browser, report, { hash });
  await scrollThrough(opened.page);
  return { ...opened, report };
}

/** The names of all charts of a page. */
function chartsOf(page) {
  return page.$$eval('[data-chart]', (all) => all.map((box) => box.dataset.chart));
}

/** The heights of the upper row of upright bars, and how high above their feet the dashed line is. */
function uprightBars(page, chart) {
  return page.$eval(`[data-chart="${chart}"] svg`, (svg) => {
    const paths = [...svg.querySelectorAll('path')].map((path) => ({ path, box: path.getBoundingClientRect() }));
    const fill = ({ path }) => path.getAttribute('fill') ?? 'none';
    const upright = paths.filter((each) => fill(each) !== 'none' && each.box.width > 8 && each.box.height > 12);
    const bars = upright.filter(({ box }) => box.width < 80);
    const foot = Math.min(...bars.map(({ box }) => box.bottom));
    const dashed = paths.find(({ path, box }) => path.hasAttribute('stroke-dasharray') && box.bottom < foot);
    const row = bars.filter(({ box }) => Math.abs(box.bottom - foot) < 1);
    row.sort((one, other) => one.box.left - other.box.left);
    const line = (dashed.box.top + dashed.box.bottom) / 2;
    return { bars: row.map(({ box }) => box.height), mean: foot - line };
  });
}

test('a run has its rates, its latencies, and what each of its jobs did', async () => {
  const { page, report, close } = await open('one-run', '#/run');
  const [cell] = report.document.runs[0].cells;
  const charts = await chartsOf(page);
  assert.ok(charts.length >= 4, charts.join(', '));
  const fair = charts.find((chart) => chart.includes('fair'));
  const { bars, mean } = await uprightBars(page, fair);
  assert.equal(bars.length, 4);
  const { values } = cell.fairness;
  values.forEach((value, index) => assert.ok(Math.abs(bars[index] / bars[0] - value / values[0]) < 0.02, fair));
  const sum = bars.reduce((one, other) => one + other, 0);
  assert.ok(Math.abs(mean - sum / 4) < 1, `the line of the mean is at ${mean}, and the mean of the bars ${sum / 4}`);
  await close();
});

test('times of a command are bars with a line at their mean', async () => {
  const { page, report, close } = await open('application', '#/run');
  for (const [index, chart] of (await chartsOf(page)).filter((name) => name.includes('iter')).entries()) {
    const { bars, mean } = await uprightBars(page, chart);
    const seconds = report.document.runs[0].cells[index].iterations.iterations.map((each) => each.seconds);
    assert.equal(bars.length, seconds.length);
    seconds.forEach((each, at) => assert.ok(Math.abs(bars[at] / bars[0] - each / seconds[0]) < 0.02, chart));
    const middle = bars.reduce((one, other) => one + other, 0) / bars.length;
    assert.ok(Math.abs(mean - middle) < 1.5, `the line of the mean is at ${mean}, and the mean of the bars ${middle}`);
  }
  await close();
});

test('a sweep has a square for each of its cells, with what it did', async () => {
  const { page, report, close } = await open('sweep', '#/sweep');
  const [sweep] = report.document.sweeps;
  assert.equal(sweep.cells.length, 9);
  const texts = await textsOf(page, 'sweep-0');
  for (const { iops } of sweep.cells) {
    const shown = texts.map((text) => Number.parseFloat(text.replace(',', '')) * (/\dk/.test(text) ? 1e3 : 1));
    assert.ok(shown.some((value) => Math.abs(value / iops - 1) < 0.006), `${iops} is not among ${texts.join(' ')}`);
  }
  await close();
});

test('a history has a point for each run', async () => {
  const { page, report, close } = await open('history', '#/history');
  assert.equal(report.document.runs.length, NIGHTS);
  assert.equal(report.document.trends[0].points.length, NIGHTS);
  await page.locator('#trend-0 summary', { hasText: 'Numbers as a table' }).click();
  const rows = page.locator('#trend-0 table tbody tr');
  await rows.nth(NIGHTS - 1).waitFor();
  assert.equal(await rows.count(), NIGHTS);
  await close();
});

test('any of ten sides can be the reference', async () => {
  const { page, close } = await open('001', '#/compare?reference=J');
  const bars = await barsOf(page, 'bars', 15);
  const labels = bars.map((bar) => bar.texts.filter((text) => text === 'J' || text.includes(' · ')));
  const own = labels.filter((texts) => texts.includes('J'));
  assert.equal(own.length, 15);
  for (const texts of own) assert.match(texts.at(-1), /^100 % /);
  await close();
});
