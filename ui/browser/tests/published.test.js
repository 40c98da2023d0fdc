// Published comparisons: what the page draws of them is what follows from their figures. Lengths of bars are read from
// the drawing.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { openReport, scrollThrough, startBrowser } from '../looking/browser.js';
import { barsOf, textsOf } from '../looking/charts.js';
import { readReport } from '../making/reports.js';

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

async function open(name, hash) {
  const opened = await openReport(browser, await readReport(name), { hash });
  await scrollThrough(opened.page);
  return opened;
}

/** Whether a bar is as long as it should be: to half a pixel, or to half a percent. */
function assertLength(pixels, wanted, what) {
  const most = Math.max(0.5, wanted * 0.005);
  assert.ok(Math.abs(pixels - wanted) <= most, `${what}: ${pixels} pixels instead of ${wanted}`);
}

test('000: bars are as long as the shares that follow from the figures', async () => {
  const { page, close } = await open('000', '#/compare');
  const bars = await barsOf(page, 'bars', 15);
  const labels = bars.map((bar) => bar.texts.find((text) => text.includes('·')));
  // Random reads, random writes, and reads and writes of the mix.
  const figures = [[55_286.9, 76_495.1], [7_664.1, 1_838.1], [7_664, 121.8], [7_664, 121.6]];
  assert.deepEqual(
    labels.map((label) => label?.split(' · ')[0]),
    ['100 %', '138.4 %', '100 %', '24.0 %', '100 %', '1.59 %', '100 %', '1.59 %'],
  );
  figures.forEach(([one, other], index) => {
    const [whole, bar] = bars.slice(2 * index, 2 * index + 2);
    assertLength(whole.pixels, bars[0].pixels, labels[2 * index]);
    assertLength(bar.pixels, (whole.pixels * other) / one, labels[2 * index + 1]);
  });
  await close();
});

test('000: any side can be the reference', async () => {
  const { page, close } = await open('000', '#/compare?reference=B');
  const bars = await barsOf(page, 'bars', 15);
  const labels = bars.map((bar) => bar.texts.find((text) => text.includes('·'))?.split(' · ')[0]);
  assert.deepEqual(labels, ['72.3 %', '100 %', '417.0 %', '100 %', '6,292 %', '100 %', '6,303 %', '100 %']);
  // What is longer is broken, at the same length.
  for (const index of [2, 4, 6]) assertLength(bars[index].pixels, bars[1].pixels * 2.5, labels[index]);
  await close();
});

test('000: what a cache answered is told, and costs nothing', async () => {
  const { page, close } = await open('000', '#/compare');
  const bars = await barsOf(page, 'bars', 15);
  const isOfCache = bars.map((bar) => bar.texts.some((text) => text.endsWith('· cache')));
  assert.deepEqual(isOfCache, [true, true, false, false, false, false, false, false]);
  const load = page.locator('#prices select');
  await load.waitFor();
  const loads = await load.locator('option').allTextContents();
  assert.deepEqual(loads.map((name) => name.split(' ')[0]), ['randwrite', 'randrw', 'randrw']);
  await load.selectOption(loads[1]);
  const title = await page.locator('#price-iops-title').textContent();
  // 300 EUR for 7,664 operations a second, and 2 EUR for 121.8.
  assert.match(title, /randrw .* read: B costs least, 0\.0164 EUR a month for each operation a second; A 2\.38 times/);
  await close();
});

test('002: three of fifteen rates are over what was bought, one is less than was expected', async () => {
  const { page, close } = await open('002', '#/expected');
  const charts = ['expected-0-iops', 'expected-0-bytes_per_second'];
  const bars = (await Promise.all(charts.map((chart) => barsOf(page, chart, 8)))).flat();
  assert.equal(bars.length, 15);
  const rows = bars.map(({ texts, pixels }) => ({ name: texts[0], share: Number.parseFloat(texts[1]), texts, pixels }));
  const verdict = (row) => row.texts.at(-1).replace(/^\S+ /, '').split(',')[0];
  const verdicts = (word) => rows.filter((row) => verdict(row) === word).map((row) => row.name.split(' ')[0]);
  assert.deepEqual(verdicts('over').sort(), ['premiumssd_v2', 'standardhdd', 'ultrassd']);
  assert.deepEqual(verdicts('under'), ['standardssd']);
  assert.equal(verdicts('within').length, 11);
  // More than lasts as long as there are credits: all rates of one kind of disk.
  const inBursts = rows.filter((row) => row.texts.at(-1).endsWith('in a burst'));
  assert.deepEqual(inBursts.map((row) => row.name.split(' ')[0]), ['standardssd', 'standardssd', 'standardssd']);
  const over = rows.filter((row) => row.share > 115 || (row.share > 105 && !row.name.startsWith('standardhdd')));
  assert.deepEqual(over.map((row) => row.share), [170, 112, 112]);
  assert.deepEqual(rows.filter((row) => row.share < 95).map((row) => row.share), [85]);
  const figures = [561 / 5, 1001 / 10, 5210 / 50, 102, 102, 112, 100, 5180 / 50, 102, 102];
  const mebibytes = [97 / 60, 202 / 250, 198 / 200, 320 / 300, 320 / 300].map((share) => share * 104.8576);
  const hundred = bars[6].pixels;
  figures.forEach((share, index) => assertLength(bars[index].pixels, (hundred * share) / 100, rows[index].name));
  const scale = bars[10].pixels / mebibytes[0];
  mebibytes.forEach((share, index) => assertLength(bars[10 + index].pixels, scale * share, rows[10 + index].name));
  await close();
});

test('001: ten options and five lengths of files, and what a cache answered is marked', async () => {
  const report = await readReport('001');
  const { page, close } = await open('001', '#/files');
  const stated = ['agent-d2sv3', 'agent-d2v3', 'agent-ds2v2', 'agent-ds3v2', 'disk-premium', 'disk-standard'];
  const options = [...stated, 'aci', 'fileshare-premium', 'fileshare-standard', 'full-blobfuse'].sort();
  const lengths = ['10 KiB', '100 KiB', '1 MiB', '10 MiB', '100 MiB'];
  const marked = [];
  for (const [index, length] of lengths.entries()) {
    const titles = await page.$$eval(`#files-${index}-title`, ([title]) => title.textContent);
    assert.ok(titles.includes(`files of ${length}:`), titles);
    const texts = await textsOf(page, `files-${index}`);
    assert.deepEqual([...new Set(texts.filter((text) => options.includes(text)))].sort(), options);
    const bars = await barsOf(page, `files-${index}`, 12);
    assert.equal(bars.length, 30, `write, read, and both of ten options of ${length}`);
    for (const bar of bars) {
      const isMarked = bar.texts.some((text) => text.endsWith('page cache'));
      assert.equal(bar.isDashed, isMarked, `hollow and called so: ${bar.texts.join(' ')}`);
      if (isMarked && bar.texts.includes('read')) marked.push(length);
    }
  }
  const cached = report.document.files.flatMap(({ rows }) =>
    rows
      .filter(({ phases }) => phases.some(({ name, cached: how }) => name === 'read' && how))
      .map(({ target }) => target),
  );
  assert.equal(marked.length, cached.length);
  const times = (option) => cached.filter((target) => target === option).length;
  for (const option of stated) assert.equal(times(option), lengths.length, option);
  // Of these nothing is stated: what is as fast as where a cache answered is marked.
  assert.ok(times('aci') + times('full-blobfuse') >= lengths.length, `${times('aci')} and ${times('full-blobfuse')}`);
  // No cache answers for shares.
  assert.equal(times('fileshare-premium') + times('fileshare-standard'), 0);
  assert.equal(report.document.files.length, lengths.length);
  await close();
});
