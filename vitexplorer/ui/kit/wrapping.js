// Text broken into lines, for pictures that are saved.

/** @typedef {(text: string) => number} Measure width of a text in units of the picture */

/**
 * Breaks a text between words or, in a language that writes no spaces, between any two signs. A word that is wider than
 * a line has one to itself.
 *
 * @param {string} text
 * @param {number} width of a line
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
 * How wide the browser sets a text in a font.
 *
 * @param {string} font as CSS writes it: weight, size, families
 * @returns {Measure}
 */
export function measuring(font) {
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = font;
  return (text) => pen.measureText(text).width;
}
