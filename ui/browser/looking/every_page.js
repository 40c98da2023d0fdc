// Looks at every page of every report at a width: what all pages have to be, whatever they show.
import assert from 'node:assert/strict';
import { after, before, test } from './bounded.js';
import { readReports } from '../making/reports.js';
import { goTo, openReport, scrollThrough, startBrowser } from './browser.js';
import { barriers, faults, pagesOf, unfold } from './pages.js';
import { takePicture } from './pictures.js';

async function look(page, trouble, picture) {
  await scrollThrough(page);
  const folded = await faults(page, trouble);
  await takePicture(page, picture);
  await unfold(page);
  const unfolded = (await faults(page, trouble)).filter((fault) => !folded.includes(fault));
  return [...folded, ...unfolded.map((fault) => `unfolded: ${fault}`), ...(await barriers(page))];
}

/** Tests of all pages at a width: each in light colours, and each kind of page once in dark ones. */
export async function testEveryPage(width) {
  let browser;
  before(async () => (browser = await startBrowser()));
  after(() => browser.close());
  const dark = new Set();
  for (const report of await readReports()) {
    for (const scheme of ['light', 'dark']) {
      test(`${report.name} at ${width} pixels, ${scheme}`, async () => {
        const { page, trouble, close } = await openReport(browser, report, { width, scheme });
        const pages = await pagesOf(page);
        assert.ok(pages.length > 1, 'there is no way to other pages');
        const found = [];
        for (const { name, hash } of pages) {
          if (scheme === 'dark' && dark.has(name)) continue;
          await goTo(page, hash);
          const here = await look(page, trouble, `${report.name}-${name}-${width}-${scheme}`);
          found.push(...here.map((fault) => `${name}: ${fault}`));
          if (scheme === 'dark') dark.add(name);
        }
        await close();
        assert.equal(found.join('\n'), '');
      });
    }
  }
}
