// The list of a server can be worked with by keys alone.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { NARROW, settle, startBrowser, WIDE } from '../looking/browser.js';
import { focused, tabThrough } from '../looking/keys.js';
import { namesOf, rowOf, settleReport, waitForTotal, withPage } from '../looking/served.js';
import { runsOf } from '../making/server.js';

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

/** Goes on with the tab key to what is called so. */
async function tabTo(page, name) {
  const stops = await tabThrough(page, (stop) => stop.name === name);
  assert.equal(stops.at(-1)?.name, name, `${name} is not among ${stops.map((stop) => stop.name).join(', ')}`);
}

for (const width of [WIDE, NARROW]) {
  test(`tab reaches everything of the list, and one sees where one is, at ${width} pixels`, async () => {
    await withPage(browser, { width }, async ({ page }) => {
      await waitForTotal(page, '13 runs');
      const stops = await tabThrough(page);
      const names = stops.map((stop) => stop.name);
      const own = ['Tags of night 5', 'Baseline of night 5', 'Record of night 5', 'Delete night 5', 'night 5'];
      for (const name of ['Runs', 'Live', 'Dark', 'Import files…', ...own]) {
        assert.ok(names.includes(name), `${name} is not among ${names.join(', ')}`);
      }
      assert.equal(stops.filter((stop) => stop.type === 'checkbox' && /^Choose .*, /.test(stop.name)).length, 13);
      assert.deepEqual(stops.filter((stop) => !stop.isVisible).map((stop) => `${stop.tag} ${stop.name}`), []);
    });
  });
}

test('runs are filtered, chosen and compared by keys', async () => {
  await withPage(browser, {}, async ({ page }) => {
    await waitForTotal(page, '13 runs');
    await tabThrough(page, (stop) => stop.type === 'search');
    await page.keyboard.type('night');
    await waitForTotal(page, '5 of 5 runs like that');
    assert.equal((await focused(page)).type, 'search', 'the focus is lost while the list changes');
    for (let run = 0; run < 2; run += 1) {
      await tabThrough(page, (stop) => stop.type === 'checkbox' && /^Choose night/.test(stop.name));
      await page.keyboard.press('Space');
    }
    await page.getByText('2 runs chosen').waitFor();
    for (let back = 0; back < 60 && (await focused(page))?.name !== 'Report of these'; back += 1) {
      await page.keyboard.press('Shift+Tab');
    }
    await page.keyboard.press('Enter');
    await settleReport(page);
    const text = await page.locator('main').innerText();
    for (const name of ['night 5', 'night 4']) assert.ok(text.includes(name), `${name} is not in the report`);
    await page.goBack();
    await settle(page);
    assert.ok(await rowOf(page, 'night 5').getByRole('checkbox').isChecked(), 'what was chosen is forgotten');
  });
});

test('a run is tagged by keys', async () => {
  await withPage(browser, {}, async ({ page, place }) => {
    await waitForTotal(page, '13 runs');
    await tabTo(page, 'Tags of night 4');
    await page.keyboard.press('Enter');
    await page.getByLabel('Tags, one a line').waitFor();
    await page.keyboard.type('by=keys');
    await tabTo(page, 'Save tags');
    await page.keyboard.press('Enter');
    await rowOf(page, 'night 4').getByRole('link', { name: 'by=keys' }).waitFor();
    assert.deepEqual((await runsOf(place)).find((run) => run.name === 'night 4').tags, { by: 'keys' });
  });
});

test('a run is deleted by keys, and kept by escape', async () => {
  await withPage(browser, {}, async ({ page, place }) => {
    await waitForTotal(page, '13 runs');
    const id = (await rowOf(page, 'night 4').locator('code').innerText()).trim();
    const dialog = page.getByRole('dialog');
    await tabTo(page, 'Delete night 4');
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.type(id);
    assert.equal(await dialog.getByRole('textbox').inputValue(), id, 'what is typed does not go into the dialog');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await focused(page)).name, 'Delete night 4', 'the focus does not come back');
    assert.equal((await runsOf(place)).length, 13);

    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.type(id);
    await page.keyboard.press('Enter');
    await waitForTotal(page, '12 runs');
    assert.ok(!(await namesOf(page)).includes('night 4'));
    assert.equal((await runsOf(place)).length, 12);
  });
});
