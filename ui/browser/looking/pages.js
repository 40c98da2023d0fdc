// Which pages a report has, and what a page shows in a form that can be compared.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { scrollThrough } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The addresses of all pages of a report that is open: those that its navigation leads to. */
export async function pagesOf(page) {
  const links = await page.$$eval('nav[aria-label="Pages"] a', (all) => all.map((link) => link.getAttribute('href')));
  return links.map((hash) => ({ hash, name: hash.replace(/^#\/(?:report\/)?([a-z]+).*$/, '$1') }));
}

/** How many pixels the document is wider than its window, and what sticks out. */
export function overflow(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const scrolls = (element) => {
      for (let up = element.parentElement; up; up = up.parentElement) {
        if (getComputedStyle(up).overflowX !== 'visible') return true;
      }
      return false;
    };
    const isOut = (element) => element.getBoundingClientRect().right > clientWidth + 1 && !scrolls(element);
    const named = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`;
    const out = scrollWidth > clientWidth ? [...document.body.querySelectorAll('*')].filter(isOut) : [];
    return { pixels: scrollWidth - clientWidth, out: out.slice(0, 5).map(named) };
  });
}

/** Cells of tables whose text reaches into the next one. */
export function cutCells(page) {
  return page.$$eval('main td, main th', (cells) =>
    cells
      .filter((cell) => cell.scrollWidth > cell.clientWidth + 1 && cell.getClientRects().length > 0)
      .map((cell) => cell.innerText.trim().slice(0, 60)),
  );
}

/** Texts that the edge of their chart cuts off. */
export function cutTexts(page) {
  return page.$$eval('[data-chart] svg', (charts) =>
    charts.flatMap((svg) => {
      const edge = svg.getBoundingClientRect();
      const isCut = (text) => {
        const { left, right, width } = text.getBoundingClientRect();
        return width > 0 && (left < edge.left - 2 || right > edge.right + 2);
      };
      const name = svg.closest('[data-chart]').dataset.chart;
      return [...svg.querySelectorAll('text')].filter(isCut).map((text) => `${name}: ${text.textContent.slice(0, 60)}`);
    }),
  );
}

/** Charts whose box is there and in which nothing is drawn, not even when one comes near. */
export async function emptyCharts(page) {
  const find = () =>
    page.$$eval('[data-chart]', (boxes) =>
      boxes.filter((box) => !box.querySelector('svg path')).map((box) => box.dataset.chart),
    );
  if ((await find()).length === 0) return [];
  await scrollThrough(page);
  return find();
}

/** What is wrong with the page that is open, as sentences. */
export async function faults(page, trouble) {
  const found = trouble.splice(0);
  const { pixels, out } = await overflow(page);
  if (pixels > 0) found.push(`the document is ${pixels} pixels wider than its window: ${out.join(', ')}`);
  for (const chart of await emptyCharts(page)) found.push(`nothing is drawn in the chart ${chart}`);
  const cut = await cutCells(page);
  if (cut.length > 0) found.push(`${cut.length} cells reach into the next one, as: ${cut[0]}`);
  for (const text of await cutTexts(page)) found.push(`the edge of the chart cuts ${text}`);
  return found;
}

/** What axe-core finds. */
export async function barriers(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const found = await page.evaluate(async (values) => {
    const options = { runOnly: { type: 'tag', values }, resultTypes: ['violations'] };
    // Of drawings it can judge nothing but that they have a name.
    return (await window.axe.run({ exclude: ['[data-chart] svg'] }, options)).violations;
  }, RULES);
  const where = (nodes) => `${nodes.length} times, as ${nodes[0].target.join(' ')}`;
  return found.map(({ id, help, nodes }) => `barrier ${id}, ${where(nodes)}: ${help}`);
}

/** What is shown: texts, choices, and the texts and widths of charts. */
export function shown(page) {
  return page.evaluate(() => ({
    title: document.title,
    text: document.querySelector('main').innerText,
    choices: [...document.querySelectorAll('main input, main select')].map((each) => each.checked ?? each.value),
    values: [...document.querySelectorAll('main select')].map((select) => select.value),
    folded: [...document.querySelectorAll('main details')].map((each) => !each.open),
    sorted: [...document.querySelectorAll('[aria-sort]')].map((head) => head.getAttribute('aria-sort')),
    charts: [...document.querySelectorAll('[data-chart] svg')].map((svg) => ({
      width: svg.getAttribute('width'),
      paths: svg.querySelectorAll('path').length,
      texts: [...svg.querySelectorAll('text')].map((text) => text.textContent),
    })),
    theme: getComputedStyle(document.documentElement).backgroundColor,
  }));
}

/** Opens everything that is folded. */
export async function unfold(page) {
  await page.$$eval('details', (all) => all.forEach((each) => (each.open = true)));
  await page.waitForTimeout(60);
}

/** The first places where what is shown now is other than it was, in a line each. */
export function differences(before, now) {
  return Object.keys(before).flatMap((key) => {
    const [one, other] = [before[key], now[key]].map((value) =>
      typeof value === 'string' ? value.split('\n') : [value].flat().map((each) => JSON.stringify(each)),
    );
    const at = Array.from({ length: Math.max(one.length, other.length) }, (_, index) => index).find(
      (index) => one[index] !== other[index],
    );
    const short = (text) => (text === undefined ? 'nothing' : text.slice(0, 160));
    return at === undefined ? [] : [`${key} ${at}: ${short(one[at])} became ${short(other[at])}`];
  });
}
