// Parsing and formatting of queries and heads, as in the page's address and in Python.

import {FUSIONS} from './maps.js';
import {MEAN} from './payload.js';

/**
 * Parses a query (cls, dist, mean, row,col, or a patch's number) into a token's code.
 *
 * @param {any} value
 * @param {any} text
 * @returns {number | null} null where there is no such token
 */
export function queryCode(value, text) {
  if (Array.isArray(text)) text = text.join(',');
  if (typeof text === 'number' && text >= 0 && text < value.rows * value.cols) return Math.floor(text);
  if (text === 'mean') return MEAN;
  const prefix = value.prefix.indexOf(text);
  const found = /^(\d+),(\d+)$/.exec(text ?? '');
  if (prefix >= 0) return -1 - prefix;
  if (!found || +found[1] >= value.rows || +found[2] >= value.cols) return null;
  return +found[1] * value.cols + +found[2];
}

/** Formats a token's code; for a key, `cols` are the columns of its own grid. */
export function queryText(value, code, cols = value.cols) {
  if (code === MEAN) return 'mean';
  return code < 0 ? value.prefix[-1 - code] : `${Math.floor(code / cols)},${code % cols}`;
}

/** Returns true where a token is no query of the block. */
export function isSilent(value, code) {
  return value.silent.includes(code === MEAN || code >= 0 ? 'patches' : value.prefix[-1 - code]);
}

/** Parses a head; null where the block has no such head. */
export function headFrom(value, text) {
  if (Object.hasOwn(FUSIONS, text)) return text;
  return /^\d+$/.test(text) && Number(text) < value.heads ? Number(text) : null;
}
