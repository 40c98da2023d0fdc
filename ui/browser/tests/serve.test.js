// The list of runs of a server: what it has, how it is narrowed, and the reports that it leads to.
import assert from 'node:assert/strict';
import { after, before, test } from '../looking/bounded.js';
import { NARROW, openReport, scrollThrough, settle, startBrowser, WIDE } from '../looking/browser.js';
import { differences, pagesOf, shown } from '../looking/pages.js';
import { assertGood, expectRefusal, namesOf, rowOf, settleReport, waitForTotal, withPage } from '../looking/served.js';
import { runsOf } from '../making/server.js';
import { readReport } from '../making/reports.js';

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

const ALL = '1 to 13 of 13 runs';

for (const width of [WIDE, NARROW]) {
  for (const scheme of ['light', 'dark']) {
    test(`the list has all runs, the newest first, at ${width} pixels, ${scheme}`, async () => {
      await withPage(browser, { width, scheme }, async ({ page, place }) => {
        await waitForTotal(page, ALL);
        const runs = await runsOf(place);
        assert.deepEqual(await namesOf(page), runs.map((run) => run.name));
        const text = await rowOf(page, 'two disks').innerText();
        for (const part of ['disk-a', 'disk-b', 'room=cellar']) assert.ok(text.includes(part), text);
        assert.equal(await page.title(), 'Runs · plimsoll');
        await page.getByText('✓ connected').waitFor();
      });
    });
  }

  test(`the list is narrowed by a text, a tag and a target, at ${width} pixels`, async () => {
    await withPage(browser, { width }, async ({ page, trouble }) => {
      const filter = page.getByRole('searchbox', { name: 'Filter' });
      await filter.fill('night');
      await waitForTotal(page, '1 to 5 of 5 runs like that');
      assert.deepEqual(await namesOf(page), ['night 5', 'night 4', 'night 3', 'night 2', 'night 1']);
      await page.reload();
      await waitForTotal(page, '1 to 5 of 5 runs like that');
      assert.equal(await filter.inputValue(), 'night');
      await filter.fill('');
      await filter.pressSequentially('two ');
      await waitForTotal(page, '1 to 1 of 1 run like that');
      assert.equal(await filter.inputValue(), 'two ', 'what one has typed is taken away');
      await filter.fill('nothing is called so');
      await waitForTotal(page, 'No run is like that.');
      await assertGood(page, trouble);
      await page.getByRole('button', { name: 'Show all runs' }).click();
      await waitForTotal(page, ALL);
      assert.equal(await filter.inputValue(), '');

      await page.getByRole('link', { name: 'room=cellar' }).click();
      await waitForTotal(page, '1 to 1 of 1 run like that');
      assert.deepEqual(await namesOf(page), ['two disks']);
      await assertGood(page, trouble);
      await page.getByRole('link', { name: 'No longer only tag room=cellar' }).click();
      await waitForTotal(page, ALL);

      await rowOf(page, 'two disks').getByRole('link', { name: 'disk-b' }).click();
      await waitForTotal(page, '1 to 3 of 3 runs like that');
      assert.deepEqual(await namesOf(page), ['a command', 'small files', 'two disks']);
      await page.goBack();
      await waitForTotal(page, ALL);
    });
  });

  test(`a run is opened from the list, and leads back to where one was, at ${width} pixels`, async () => {
    await withPage(browser, { width }, async ({ page, trouble }) => {
      await page.getByRole('searchbox', { name: 'Filter' }).fill('disks');
      await waitForTotal(page, 'of 1 run like that');
      await page.getByRole('link', { name: 'two disks', exact: true }).click();
      await settleReport(page);
      const pages = await pagesOf(page);
      assert.ok(['overview', 'run', 'compare'].every((name) => pages.some((each) => each.name === name)));
      for (const { name, hash } of pages) {
        await page.locator(`nav[aria-label="Pages"] a[href="${hash}"]`).click();
        await settle(page);
        await scrollThrough(page);
        assert.equal((await page.title()).split(' · ').at(-1).toLowerCase(), name);
        await assertGood(page, trouble);
      }
      await page.getByRole('link', { name: 'Runs', exact: true }).click();
      await waitForTotal(page, 'of 1 run like that');
    });
  });

  test(`runs that are chosen become one report, at ${width} pixels`, async () => {
    await withPage(browser, { width }, async ({ page, trouble }) => {
      await waitForTotal(page, ALL);
      const report = page.getByRole('link', { name: 'Report of these' });
      assert.equal(await report.count(), 0, 'there is a way to a report of nothing');
      for (const name of ['night 4', 'night 2']) await rowOf(page, name).getByRole('checkbox').check();
      await page.getByText('2 runs chosen').waitFor();
      await assertGood(page, trouble);
      await report.click();
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Compare' }).click();
      await settle(page);
      await scrollThrough(page);
      const text = await page.locator('main').innerText();
      for (const name of ['night 4', 'night 2']) assert.ok(text.includes(name), `${name} is not compared`);
      assert.ok(!text.includes('night 3'), 'a run is there that nobody chose');
      // Whoever gets the address sees the same.
      const view = await shown(page);
      await page.reload();
      await settleReport(page);
      assert.equal(differences(view, await shown(page)).join('\n'), '');
    });
  });
}

test('a report that is served shows what the one shows that is sent', async () => {
  const report = await readReport('history');
  const hash = `#/report?runs=${report.document.runs.map((run) => run.id).join(',')}`;
  const sent = await openReport(browser, report);
  await withPage(browser, { hash }, async ({ page }) => {
    await settleReport(page);
    const names = (pages) => pages.map(({ name }) => name);
    assert.deepEqual(names(await pagesOf(page)), names(await pagesOf(sent.page)));
    for (const name of ['Overview', 'Run', 'History']) {
      for (const each of [page, sent.page]) {
        await each.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
        await settle(each);
        await scrollThrough(each);
      }
      const [one, other] = [await shown(sent.page), await shown(page)];
      assert.equal(differences({ ...one, title: '' }, { ...other, title: '' }).join('\n'), '', name);
    }
  });
  await sent.close();
});

test('what is not there is refused in a sentence', async () => {
  await withPage(browser, { hash: '#/report?runs=nothing-is-called-so' }, async ({ page, trouble }) => {
    await page.getByRole('heading', { name: 'No report' }).waitFor();
    assert.match(await page.locator('main').innerText(), /nothing-is-called-so/);
    expectRefusal(trouble, '404');
    await page.getByRole('link', { name: 'Back to the runs' }).click();
    await waitForTotal(page, ALL);
  });
});

test('an empty history says so', async () => {
  await withPage(browser, { isFilled: false, width: NARROW }, async ({ page }) => {
    await waitForTotal(page, 'The history has no runs yet.');
    assert.deepEqual(await namesOf(page), []);
  });
});

test('a server that changes nothing offers no changes', async () => {
  await withPage(browser, { words: ['--read-only'] }, async ({ page }) => {
    await waitForTotal(page, ALL);
    await page.getByText('Nothing can be changed here').waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Delete|Tags of|Baseline of|Import)/ }).count(), 0);
    assert.ok((await page.getByRole('link', { name: /^Record of/ }).count()) > 0);
  });
});

test('a record with one target three times is listed, and one that is known is left as it is', async () => {
  await withPage(browser, {}, async ({ page, server }) => {
    await waitForTotal(page, ALL);
    const [{ id }] = (await (await fetch(`${server.origin}/api/runs?limit=1`)).json()).runs;
    const record = await (await fetch(`${server.origin}/api/runs/${id}/record`)).json();
    const name = 'three times the same';
    record.asked.targets = ['same', 'same', 'same'];
    const file = (told) => {
      return { name: 'r.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(told)) };
    };
    const input = page.locator('input[type=file]');
    await input.setInputFiles(file({ ...record, id: '00000000-0000-7000-8000-000000000001', name }));
    await waitForTotal(page, '1 to 14 of 14 runs');
    assert.equal(await rowOf(page, name).getByText('same', { exact: true }).count(), 1);
    await input.setInputFiles(file({ ...record, name: 'another name' }));
    await page.getByText('1 of them there before and left as it was').waitFor();
    assert.ok(!(await namesOf(page)).includes('another name'));
  });
});
