// Goes through a page with keys, and says what has the focus.

/** What has the focus: what it is, what it is called, and whether one sees that it has it. */
export function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const isVisible = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
    const name = element.getAttribute('aria-label') ?? element.innerText ?? element.value ?? '';
    return { tag: element.tagName.toLowerCase(), type: element.type ?? '', name: name.trim(), isVisible };
  });
}

/** Goes through a page with the tab key until it begins anew or something is found. */
export async function tabThrough(page, isFound = () => false) {
  const stops = [];
  for (let count = 0; count < 600; count += 1) {
    await page.keyboard.press('Tab');
    const stop = await focused(page);
    if (stop === null) break;
    stops.push(stop);
    if (isFound(stop)) break;
  }
  return stops;
}
