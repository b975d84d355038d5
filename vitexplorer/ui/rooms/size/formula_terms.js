// What the board of sizes says of its rows, before anything is drawn.

/**
 * @typedef {object} CountRow one part or term
 * @property {string} name
 * @property {number} count
 * @property {number | null} share of the total, 0-1
 * @property {string} symbols the term in letters; x_c is x with the index c
 * @property {string} numbers the same with numbers
 * @property {string} beside another saying of the count
 */

/** @typedef {{text: string, leans?: boolean, index?: string}} Piece of a formula; single letters lean */

const COLUMNS = ['name', 'symbols', 'numbers', 'beside', 'count', 'share'];
const PIECE = /([A-Za-z\u03b1-\u03c9]+)(?:_(\w+))?|[^]/g;

/**
 * The columns that have something to say, in order: names, counts, and what a row has of the others.
 *
 * @param {CountRow[]} rows
 */
export function columnsOf(rows) {
  const says = (row, column) => row[column] !== '' && row[column] !== null;
  return COLUMNS.filter((column) => ['name', 'count'].includes(column) || rows.some((row) => says(row, column)));
}

/**
 * A formula in pieces: letters lean, digits and operators stand, x_c gets an index. Factors of a product stay together,
 * so that a long sum breaks between its products.
 *
 * @param {string} formula
 * @returns {Piece[]}
 */
export function pieces(formula) {
  /** @type {Piece[]} */
  const found = [];
  for (const [text, letters, index] of formula.replaceAll(' \u00b7 ', '\u00a0\u00b7\u00a0').matchAll(PIECE)) {
    const last = found.at(-1);
    if (letters) found.push({text: letters, leans: letters.length === 1, ...(index ? {index} : {})});
    else if (last && last.leans === undefined) last.text += text;
    else found.push({text});
  }
  return found;
}

/**
 * Which way a part's count went since the last design.
 *
 * @param {Map<string, number>} before counts by part; empty for another model
 * @param {string} part
 * @param {number} count
 * @returns {'grew' | 'fell' | null}
 */
export function change(before, part, count) {
  const last = before.get(part);
  if (last === undefined || last === count) return null;
  return count > last ? 'grew' : 'fell';
}

/**
 * A design as the address has it.
 *
 * @param {string} preset where it started; empty for the model on the screen
 * @param {Map<string, number>} moved the sliders that were
 */
export function written(preset, moved) {
  return [preset, ...[...moved].map(([name, value]) => `${name}=${value}`)].join(';');
}
