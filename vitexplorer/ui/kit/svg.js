// SVG elements of drawings that are saved as files, in units of the drawing.

/** Font families of saved pictures: each machine has one of them, also for Chinese. */
export const SANS =
  'Inter, system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif';

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/**
 * Makes a line of text; `y` is its baseline.
 *
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {string} words
 * @param {Record<string, string | number>} [more] attributes
 */
export function textLine(x, y, size, words, more = {}) {
  return svg('text', {x, y, 'font-size': size, fill: '#111', ...more}, words);
}

/**
 * Makes an image of a canvas's pixels, without loss.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Record<string, string | number>} place attributes: x, y, width, height and others
 */
export function pixels(canvas, place) {
  return svg('image', {href: canvas.toDataURL('image/png'), preserveAspectRatio: 'none', ...place});
}
