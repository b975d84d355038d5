// Pure functions of the size board: columns, formulas, changes, designs.

/**
 * @typedef {object} CountRow one part or term
 * @property {string} name
 * @property {number} count
 * @property {number | null} share of the total, 0-1
 * @property {string} symbols the term in letters; x_c is x with the index c
 * @property {string} numbers the term with numbers
 * @property {string} beside second form of the count
 */

/** @typedef {{text: string, leans?: boolean, index?: string}} Piece of a formula; `leans` for italics */

const COLUMNS = ['name', 'symbols', 'numbers', 'beside', 'count', 'share'];
const PIECE = /([A-Za-z\u03b1-\u03c9]+)(?:_(\w+))?|./gs;

/**
 * Columns with content, in order: names, counts, then the others that some row has.
 *
 * @param {CountRow[]} rows
 */
export function columnsOf(rows) {
  const says = (row, column) => row[column] !== '' && row[column] !== null;
  return COLUMNS.filter((column) => ['name', 'count'].includes(column) || rows.some((row) => says(row, column)));
}

/**
 * Splits a formula into pieces: letters in italics, digits and operators upright, x_c with an index. Factors of a
 * product stay together, so that a long sum breaks between its products.
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
 * Direction of a count's change since the last design.
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
 * Writes a design as in the address.
 *
 * @param {string} preset start of the design; empty for the model on the screen
 * @param {Map<string, number>} moved values of the moved sliders
 */
export function written(preset, moved) {
  return [preset, ...[...moved].map(([name, value]) => `${name}=${value}`)].join(';');
}
