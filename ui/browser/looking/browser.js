// Opens reports and servers in Chromium, and writes down everything that a page must not do: complain, ask others, show
// dialogs.
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Widths of a desk and of a hand. */
export const WIDE = 1280;
export const NARROW = 390;

/** Milliseconds that anything may take that a page is asked for. */
const WAIT_MAX = 30_000;

/** A browser, which whoever asked closes. */
export function startBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args: FLAGS, timeout: WAIT_MAX });
}

/** What pages can wait with: for a frame, and some milliseconds more. */
function giveFrames() {
  window.lookingFrame = (milliseconds = 0) =>
    new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error('the browser gave no frame within 10 s')), 10_000);
      requestAnimationFrame(() => {
        clearTimeout(late);
        setTimeout(done, milliseconds);
      });
    });
}

/** What is open. */
const contexts = new Set();

async function closeContext(context) {
  contexts.delete(context);
  await context.close();
}

/** Closes whatever is still open. */
export async function closeAll() {
  await Promise.all([...contexts].map(closeContext));
}

/**
 * Whether one of the pages that are open gets no frames any more. On a busy machine that happens to Chromium 156 once
 * in some hundred pages: scripts and timers go on, other pages of the same browser get frames, and this one never does
 * again, whatever its size. Nothing can be said of a page that is not drawn.
 */
export async function hasStuckPage() {
  const stuck = (page) => {
    const frame = page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(false))));
    const late = new Promise((done) => setTimeout(() => done(true), 5_000));
    // A page without scripts, or one that goes somewhere else just now, says nothing.
    return Promise.race([frame.catch(() => false), late]);
  };
  const pages = [...contexts].flatMap((context) => context.pages());
  return (await Promise.all(pages.map(stuck))).some(Boolean);
}

/** The address of a report, with a part that says what of it is shown. */
export function addressOf(report, hash = '') {
  return pathToFileURL(report.html).href + hash;
}

/** Opens a report. `trouble` of the answer has what went wrong so far. */
export function openReport(browser, report, { hash = '', ...options } = {}) {
  const isOwn = (address) => address.split('#')[0] === addressOf(report);
  return open(browser, addressOf(report, hash), isOwn, options);
}

/** Opens the page of a server, which may ask nobody else. */
export function openServed(browser, server, { hash = '', ...options } = {}) {
  return open(browser, `${server.origin}/${hash}`, (address) => new URL(address).origin === server.origin, options);
}

async function open(browser, address, isOwn, { width = WIDE, scheme = 'light', scripts = true } = {}) {
  const viewport = { width, height: 900 };
  const context = await browser.newContext({ viewport, colorScheme: scheme, javaScriptEnabled: scripts });
  await context.addInitScript(giveFrames);
  context.setDefaultTimeout(WAIT_MAX);
  contexts.add(context);
  const page = await context.newPage();
  const trouble = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) trouble.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => trouble.push(`error: ${error.stack ?? error}`));
  page.on('request', (request) => {
    const asked = request.url();
    if (!isOwn(asked) && !asked.startsWith('data:')) trouble.push(`request: ${asked}`);
  });
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(address);
  if (scripts) await settle(page);
  return { page, trouble, close: () => closeContext(context) };
}

/** Goes to another part of the report that is open. */
export async function goTo(page, hash) {
  await page.evaluate((to) => (location.hash = to), hash);
  await settle(page);
}

/** Waits until what was asked for has been drawn. */
export async function settle(page) {
  await page.waitForSelector('main h1, main h2');
  await page.evaluate(() => window.lookingFrame().then(() => window.lookingFrame(30)));
}

/** Scrolls through all of a page and back, as charts are drawn when they come near. */
export async function scrollThrough(page) {
  await page.evaluate(async () => {
    for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight) {
      scrollTo(0, top);
      await window.lookingFrame(15);
    }
    scrollTo(0, 0);
    await window.lookingFrame(15);
  });
}
