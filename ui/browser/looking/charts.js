// Reads what a chart shows out of its drawing: bars with their lengths in pixels, and the texts beside them.

/** All texts of a chart, from the top down and from the left. */
export function textsOf(page, chart) {
  return page.$$eval(`[data-chart="${chart}"] svg text`, (all) => {
    const placed = all.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    placed.sort((one, other) => one.box.top - other.box.top || one.box.left - other.box.left);
    return placed.map(({ text }) => text).filter((text) => text !== '');
  });
}

/**
 * The bars of a chart that are as high as `height` says, from the top down: how long each is, whether its line is
 * broken, and the texts on its level.
 */
export function barsOf(page, chart, height) {
  const drawing = { chart, height };
  return page.evaluate(({ chart, height }) => {
    const svg = document.querySelector(`[data-chart="${chart}"] svg`);
    const of = (selector) => [...svg.querySelectorAll(selector)];
    const middle = (box) => (box.top + box.bottom) / 2;
    const texts = of('text').map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    // The outline of a hollow bar lies half inside of what others fill.
    const shape = (path) => {
      const { x, y, width, height } = path.getBBox();
      const { left, top } = svg.getBoundingClientRect();
      const matrix = path.getCTM();
      const from = top + y + matrix.f;
      return { left: left + x + matrix.e, top: from, width, height, bottom: from + height };
    };
    const isBar = (path) => {
      const fill = path.getAttribute('fill');
      const corners = (path.getAttribute('d').match(/[MLHVZ]/gi) ?? []).length;
      return fill && fill !== 'none' && corners >= 4 && Math.abs(shape(path).height - height) < 2;
    };
    const bars = of('path').filter(isBar).map((path) => ({ path, box: shape(path) }));
    bars.sort((one, other) => one.box.top - other.box.top);
    return bars.map(({ path, box }) => ({
      pixels: box.width,
      isDashed: path.hasAttribute('stroke-dasharray'),
      texts: texts
        .filter((each) => Math.abs(middle(each.box) - middle(box)) < 5)
        .sort((one, other) => one.box.left - other.box.left)
        .map((each) => each.text),
    }));
  }, drawing);
}
