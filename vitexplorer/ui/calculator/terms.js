// What a count table says of its rows, before anything is drawn.

/**
 * @typedef {object} CountRow one part or term
 * @property {string} name
 * @property {number} count
 * @property {number} share of the total, 0-1
 * @property {string} symbols the term in letters; x_c is x with the index c
 * @property {string} numbers the same with numbers
 */

/** @typedef {{text: string, leans?: boolean, index?: string}} Piece of a formula; single letters lean */

const COLUMNS = ['name', 'symbols', 'numbers', 'count', 'share'];
const PIECE = /([A-Za-z\u03b1-\u03c9]+)(?:_(\w+))?|[^]/g;

/**
 * The columns that have something to say, in order: a formula's where a row has one.
 *
 * @param {CountRow[]} rows
 */
export function columnsOf(rows) {
  return COLUMNS.filter((column) => !['symbols', 'numbers'].includes(column) || rows.some((row) => row[column]));
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
 * Which way a row's count went since the last value of the same table.
 *
 * @param {Map<string, number>} before counts by name; empty for another table
 * @param {CountRow} row
 * @returns {'grew' | 'fell' | null}
 */
export function change(before, {name, count}) {
  const last = before.get(name);
  if (last === undefined || last === count) return null;
  return count > last ? 'grew' : 'fell';
}
