// Texts from Python with values filled in, and formatted numbers.

import {filled} from '../kit/dom.js';
import {MEAN} from './payload.js';

/** Fills in the {names} of a text; a missing text becomes its key, so that it is noticed. */
export function say(words, key, values = {}) {
  return filled(words[key] ?? key, values);
}

/**
 * Formats a share as a percentage with at most about three digits.
 *
 * @param {number} share
 * @param {number} [digits]
 * @returns {string}
 */
export function percent(share, digits = 3) {
  if (share < 0) return `\u2212${percent(-share, digits)}`;
  const value = 100 * share;
  const places = value >= 99.95 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  if (!(value > 0)) return '0\u202f%';
  if (value < 0.001) return '<\u202f0.001\u202f%';
  return `${value.toFixed(Math.max(0, places + digits - 3))}\u202f%`;
}

/** Name of a patch of a grid of `cols` columns, of a prefix token or of the mean. */
export function tokenText(value, code, cols = value.cols) {
  if (code === MEAN) return say(value.words, 'mean_query');
  if (code < 0) return value.prefix_labels[-1 - code] ?? value.prefix[-1 - code] ?? '';
  return say(value.words, 'patch', {row: Math.floor(code / cols), col: code % cols});
}

/** Name of a head or of a fusion. */
export function headText(value, head) {
  if (value.heads === 1) return say(value.words, 'fused_one');
  if (typeof head === 'number') return say(value.words, 'head', {head});
  return say(value.words, `fused_${head}`, {heads: value.heads});
}

/** Number of the block and of all blocks, in words. */
export function blockText(value) {
  return say(value.words, 'block', {block: value.block, last: value.depth - 1});
}
