// Text wrapped into lines, for saved pictures.

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
