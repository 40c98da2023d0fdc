// Opens a report several times, and prints a line for each: milliseconds from asking for it until it is drawn and
// answers. For `cargo xtask bench report`.
import { pathToFileURL } from 'node:url';
import { startBrowser } from './looking/browser.js';

/** In the page: the time of the first moment at which what was asked for is drawn and nothing else is being done. */
function watch() {
  const isThere = () => document.querySelector('main h1, main h2') !== null;
  const observer = new MutationObserver(() => {
    if (!isThere()) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.interactiveAt = performance.now()), 0));
  });
  observer.observe(document, { childList: true, subtree: true });
}

const [file, times] = process.argv.slice(2);
process.env.CHROMIUM ??= '/usr/bin/chromium';
const browser = await startBrowser();
try {
  for (let time = 0; time < Number(times); time += 1) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.addInitScript(watch);
    await page.goto(pathToFileURL(file).href);
    const at = await page.waitForFunction(() => window.interactiveAt, undefined, { timeout: 30_000, polling: 50 });
    console.log(Math.round(await at.jsonValue()));
    await page.close();
  }
} finally {
  await browser.close();
}
