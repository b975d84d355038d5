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
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {Record<string, string | number>} [more] attributes
 */
export const rect = (x, y, width, height, more = {}) => svg('rect', {x, y, width, height, ...more});

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

/** @typedef {(text: string) => number} Measure width of a text in units of the picture */

/**
 * Breaks a text between words or, in Chinese, between any two characters. A word that is wider than a line gets its own
 * line.
 *
 * @param {string} text
 * @param {number} width width of a line
 * @param {Measure} measure
 * @returns {string[]} at least one line
 */
export function wrapped(text, width, measure) {
  const lines = [''];
  for (const piece of text.match(/[\u2e80-\uffef]|[^\s\u2e80-\uffef]+\s*|\s+/g) ?? []) {
    const longer = lines[lines.length - 1] + piece;
    if (lines[lines.length - 1] && measure(longer.trimEnd()) > width) lines.push(piece);
    else lines[lines.length - 1] = longer;
  }
  return lines.map((line) => line.trimEnd());
}

/**
 * Returns a function that measures texts in a font of the browser.
 *
 * @param {string} font font in CSS: weight, size, families
 * @returns {Measure}
 */
export function measuring(font) {
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = font;
  return (text) => pen.measureText(text).width;
}
