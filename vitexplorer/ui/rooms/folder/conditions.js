// Charts and chosen images of a survey, as in the address.

/**
 * @typedef {object} Within
 * @property {'within'} kind
 * @property {string} column
 * @property {number} low
 * @property {number} high
 */

/**
 * @typedef {object} Equal
 * @property {'equals'} kind
 * @property {string} column
 * @property {string} value
 */

/**
 * @typedef {object} Area part of a map, which is no column
 * @property {'area'} kind
 * @property {string} column the feature of the map
 * @property {number[]} box left, right, bottom, top
 */

/** @typedef {Within | Equal | Area} Condition */

const KINDS = {within: ':', equals: '=', area: '@'};
const number = (text) => (text.trim() && Number.isFinite(Number(text)) ? Number(text) : null);

/** @param {Condition} condition */
function written(condition) {
  const name = encodeURIComponent(condition.column);
  if (condition.kind === 'within') return `${name}:${condition.low}~${condition.high}`;
  if (condition.kind === 'area') return `${name}@${condition.box.join('~')}`;
  return `${name}=${encodeURIComponent(condition.value)}`;
}

/** @param {Condition[]} conditions */
export const writtenWhere = (conditions) => conditions.map(written).join(';');

function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/**
 * @param {string} text
 * @returns {Condition | null} null where the text is no condition
 */
function read(text) {
  const found = /^([^:=@;]+)([:=@])(.*)$/.exec(text);
  if (!found) return null;
  const [, name, sign, rest] = found;
  const column = plain(name);
  const numbers = rest.split('~').map(number);
  const isWhole = column && !numbers.includes(null);
  if (sign === KINDS.equals) return column ? {kind: 'equals', column, value: plain(rest)} : null;
  if (sign === KINDS.within)
    return isWhole && numbers.length === 2 ? {kind: 'within', column, low: numbers[0], high: numbers[1]} : null;
  return isWhole && numbers.length === 4 ? {kind: 'area', column, box: /** @type {number[]} */ (numbers)} : null;
}

/**
 * Parses the text of an address, which may be invalid.
 *
 * @param {string} text
 * @returns {Condition[]}
 */
export function readWhere(text) {
  return text
    .split(';')
    .map(read)
    .filter((one) => one !== null);
}

/**
 * Adds a condition; it replaces one of the same kind on the same column.
 *
 * @param {Condition[]} conditions
 * @param {Condition} condition
 * @returns {Condition[]}
 */
export function withCondition(conditions, condition) {
  return [...without(conditions, condition), condition];
}

/**
 * @param {Condition[]} conditions
 * @param {{kind: string, column: string}} condition
 * @returns {Condition[]}
 */
export function without(conditions, condition) {
  return conditions.filter(({kind, column}) => kind !== condition.kind || column !== condition.column);
}

/** Name of the column of a head's number. */
export const placed = (column, row, col) => `${column}[${row},${col}]`;
