// What the list of a server changes: tags, baselines, runs that are deleted, and files that become runs.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, test } from '../looking/bounded.js';
import { NARROW, scrollThrough, settle, startBrowser, WIDE } from '../looking/browser.js';
import { overflow, pagesOf } from '../looking/pages.js';
import { assertGood, dropFiles, expectRefusal, importOf, namesOf, rowOf, settleReport } from '../looking/served.js';
import { waitForTotal, withPage } from '../looking/served.js';
import { IMAGE, SCRIPT, TURNED } from '../making/hostile.js';
import { runsOf } from '../making/server.js';

const FIO = fileURLToPath(new URL('../../../fixtures/fio/reports/example.json', import.meta.url));

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

const namesIn = async (place) => (await runsOf(place)).map((run) => run.name);
const isHacked = (page) => page.evaluate(() => 'hacked' in window);

for (const width of [WIDE, NARROW]) {
  test(`tags of a run are changed, at ${width} pixels`, async () => {
    await withPage(browser, { width }, async ({ page, trouble, place }) => {
      const row = rowOf(page, 'two disks');
      const tags = async () => (await runsOf(place)).find((run) => run.name === 'two disks').tags;
      await page.getByRole('button', { name: 'Tags of two disks' }).click();
      const lines = page.getByLabel('Tags, one a line');
      assert.equal(await lines.inputValue(), 'room=cellar');
      await lines.fill('no tag at all');
      await page.getByRole('button', { name: 'Save tags' }).click();
      await page.getByRole('alert').filter({ hasText: '"no tag at all" is no tag' }).waitFor();
      await assertGood(page, trouble);
      await lines.press('Escape');
      assert.equal(await lines.count(), 0);
      assert.deepEqual(await tags(), { room: 'cellar' });

      await page.getByRole('button', { name: 'Tags of two disks' }).click();
      await lines.fill('room=attic\nwho=me & you');
      await page.getByRole('button', { name: 'Save tags' }).click();
      await row.getByRole('link', { name: 'who=me & you' }).waitFor();
      assert.deepEqual(await tags(), { room: 'attic', who: 'me & you' });
      await row.getByRole('link', { name: 'who=me & you' }).click();
      await waitForTotal(page, '1 to 1 of 1 run like that');
    });
  });

  test(`a run becomes a baseline, which nobody deletes, and is none again, at ${width} pixels`, async () => {
    await withPage(browser, { width }, async ({ page, trouble, place }) => {
      const row = rowOf(page, 'night 3');
      const open = () => page.getByRole('button', { name: 'Baseline of night 3' }).click();
      const name = page.getByLabel('Name of the baseline');
      const make = page.getByRole('button', { name: 'Make it a baseline' });
      await open();
      assert.ok(await make.isDisabled());
      await name.fill('latest');
      await make.click();
      await page.getByRole('alert').filter({ hasText: '"latest" cannot name a baseline' }).waitFor();
      expectRefusal(trouble, '400');
      await name.fill('gold');
      await make.click();
      await row.getByText('gold', { exact: true }).waitFor();
      await assertGood(page, trouble);

      await deleteRun(page, 'night 3');
      await page.getByRole('alert').filter({ hasText: 'gold' }).waitFor();
      expectRefusal(trouble, '409');
      await assertGood(page, trouble);
      await page.getByRole('button', { name: 'Keep it' }).click();
      assert.ok((await namesIn(place)).includes('night 3'));

      await open();
      await page.getByRole('button', { name: 'No longer gold' }).click();
      await name.waitFor({ state: 'detached' });
      await row.getByText('gold', { exact: true }).waitFor({ state: 'detached' });
      await deleteRun(page, 'night 3');
      await waitForTotal(page, '1 to 12 of 12 runs');
    });
  });

  test(`a run is deleted only by who types its short id, at ${width} pixels`, async () => {
    await withPage(browser, { width }, async ({ page, trouble, place }) => {
      const dialog = page.getByRole('dialog', { name: 'Delete this run for good?' });
      const open = () => page.getByRole('button', { name: 'Delete grid', exact: true }).click();
      const end = dialog.getByRole('button', { name: 'Delete the run' });
      const id = (await rowOf(page, 'grid').locator('code').innerText()).trim();
      const ways = [() => dialog.getByRole('button', { name: 'Keep it' }).click(), () => page.keyboard.press('Escape')];
      for (const leave of ways) {
        await open();
        await dialog.waitFor();
        assert.ok(await end.isDisabled());
        await dialog.getByRole('textbox').fill(id.slice(0, -1));
        assert.ok(await end.isDisabled(), 'a part of the id is enough');
        await dialog.getByRole('textbox').fill(id);
        assert.ok(await end.isEnabled());
        await assertGood(page, trouble);
        await leave();
        await dialog.waitFor({ state: 'detached' });
        assert.ok((await namesIn(place)).includes('grid'), 'it was deleted although nobody wanted it');
      }
      await deleteRun(page, 'grid');
      await waitForTotal(page, '1 to 12 of 12 runs');
      assert.ok(!(await namesOf(page)).includes('grid'));
      assert.ok(!(await namesIn(place)).includes('grid'));
    });
  });

  test(`files that are dropped become runs, or are refused in a sentence, at ${width} pixels`, async () => {
    await withPage(browser, { width }, async ({ page, trouble, place }) => {
      // A record that was taken away comes back as it was.
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Record of night 2' }).click(),
      ]);
      const record = await readFile(await download.path(), 'utf8');
      await deleteRun(page, 'night 2');
      await waitForTotal(page, '1 to 12 of 12 runs');
      const fio = await readFile(FIO, 'utf8');
      const files = { 'record.json': record, 'poem.txt': 'Shall I compare thee', 'fio.json': fio };
      await dropFiles(page, files);
      assert.match(await importOf(page, 'record.json'), /✓ 1 run/);
      assert.match(await importOf(page, 'fio.json'), /✓ 1 run/);
      const refused = await importOf(page, 'poem.txt');
      assert.match(refused, /✕ poem\.txt has no results that are known/);
      expectRefusal(trouble, '400');
      await waitForTotal(page, '1 to 14 of 14 runs');
      assert.ok((await namesIn(place)).includes('night 2'));
      await assertGood(page, trouble);
      await page.getByRole('link', { name: 'Open what was in fio.json' }).click();
      await settleReport(page);
      assert.match(await page.locator('main').innerText(), /another program measured|fio/);
      await assertGood(page, trouble);
      await page.goBack();
      await page.getByRole('button', { name: 'Put this list away' }).click();
      assert.equal(await page.getByLabel('Imported files').count(), 0);
    });
  });

  test(`names and tags that are markup are text, at ${width} pixels`, async () => {
    await withPage(browser, { width, isFilled: false }, async ({ page, trouble }) => {
      const record = await readFile(join(process.env.REPORTS, 'hostile.json'), 'utf8');
      const name = `${IMAGE}.json`;
      await dropFiles(page, { [name]: record, [`${SCRIPT}.txt`]: '<b>' });
      assert.match(await importOf(page, name), /✓ 1 run/);
      await importOf(page, SCRIPT);
      expectRefusal(trouble, '400');
      await waitForTotal(page, '1 to 1 of 1 run');
      const assertInert = async () => {
        assert.equal(await isHacked(page), false);
        assert.equal(await page.locator('main img, main script, dialog img').count(), 0);
        assert.deepEqual(await overflow(page), { pixels: 0, out: [] });
      };
      const text = await page.locator('table.runs').innerText();
      for (const part of [SCRIPT, IMAGE, TURNED]) assert.ok(text.includes(part), `${part} is not shown as text`);
      await assertInert();
      for (const button of ['Tags of', 'Baseline of', 'Delete']) {
        await page.getByRole('button', { name: `${button} ${SCRIPT}` }).click();
        await assertInert();
        await assertGood(page, trouble);
      }
      await page.keyboard.press('Escape');
      // A tag that is markup narrows the list too.
      await page.locator('td.tags a', { hasText: 'turned=' }).click();
      await page.getByRole('link', { name: `No longer only tag turned=${TURNED}` }).waitFor();
      await waitForTotal(page, '1 to 1 of 1 run like that');
      await assertInert();
      await assertGood(page, trouble);
      await page.locator('td.name a').first().click();
      await settleReport(page);
      for (const { hash } of await pagesOf(page)) {
        await page.evaluate((to) => (location.hash = to), hash);
        await settle(page);
        await scrollThrough(page);
        await assertInert();
      }
    });
  });
}

test('a run that is deleted is no longer chosen, also when the question was left meanwhile', async () => {
  await withPage(browser, {}, async ({ page, place }) => {
    await rowOf(page, 'grid').getByRole('checkbox').check();
    await page.getByText('1 run chosen').waitFor();
    let answer;
    const asked = new Promise((done) => {
      void page.route('**/api/runs/*?confirm=*', async (route) => {
        const answered = new Promise((go) => (answer = go));
        done();
        await answered;
        await route.continue();
      });
    });
    await deleteRun(page, 'grid');
    await asked;
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    answer();
    await waitForTotal(page, '1 to 12 of 12 runs');
    await page.getByText('1 run chosen').waitFor({ state: 'detached' });
    assert.ok(!(await namesIn(place)).includes('grid'));
  });
});

/** Deletes a run as somebody does who wants that. */
async function deleteRun(page, name) {
  const id = (await rowOf(page, name).locator('code').innerText()).trim();
  await page.getByRole('button', { name: `Delete ${name}`, exact: true }).click();
  await page.getByRole('dialog').getByRole('textbox').fill(id);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the run' }).click();
}

test('an address of a server cannot bring anything that runs', async () => {
  await withPage(browser, {}, async ({ page, trouble, server }) => {
    const query = encodeURIComponent(IMAGE + SCRIPT);
    const hashes = [`#/runs?text=${query}&tag=${query}=x&target=${query}`, `#/live/${query}`, `#/live/%E0%A4%A`];
    for (const hash of [...hashes, '#/runs?page=1e9', '#/runs?page=-1', '#/nowhere/at/all?a=%zz']) {
      await page.goto(`${server.origin}/${hash}`);
      await page.reload();
      await settle(page);
      assert.equal(await isHacked(page), false, hash);
      assert.equal(await page.locator('main img, main script').count(), 0, hash);
      await assertGood(page, trouble);
    }
    await page.goto(`${server.origin}/#/report?runs=${query}`);
    await page.getByRole('heading', { name: 'No report' }).waitFor();
    expectRefusal(trouble, '40');
    assert.equal(await isHacked(page), false);
  });
});
