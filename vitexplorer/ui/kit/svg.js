// Drawings for files: SVG elements, in units of the drawing.

/** Families for the text of a saved picture: each machine has one of them, Chinese included. */
export const SANS = 'Inter, system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif';

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
 * A line of text; `y` is its base line.
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
 * The pixels of a canvas as part of a drawing, without loss.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Record<string, string | number>} place x, y, width, height and other attributes
 */
export function pixels(canvas, place) {
  return svg('image', {href: canvas.toDataURL('image/png'), preserveAspectRatio: 'none', ...place});
}
