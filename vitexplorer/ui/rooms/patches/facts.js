// Sentences on a patch, from the texts of the value.

import {filled} from '../../kit/dom.js';
import {spaced} from '../../kit/formats.js';
import {numberOf} from './geometry.js';

/** @param {any} value what Python sent @param {import('./geometry.js').Patch} patch its place among all tokens */
export const tokenIndex = (value, patch) => value.prefix_tokens.length + numberOf(value, patch);

/**
 * @param {any} value
 * @param {import('./geometry.js').Patch} patch
 */
export function facts(value, patch) {
  const {cols, prefix_tokens: prefix, patch_size: side, embed_dim: dim, words} = value;
  const sum = `${prefix.length ? `${prefix.length} + ` : ''}${patch.row} × ${cols} + ${patch.col}`;
  const numbers = filled(words.numbers, {n: spaced(side * side * 3)});
  return {
    title: filled(words.patch, patch),
    index: words.index,
    sum: `${sum} = ${spaced(tokenIndex(value, patch))}`,
    numbers: `${side} × ${side} × 3 → ${numbers} → D = ${spaced(dim)}`,
  };
}

/** Length and parts of the sequence. */
export function length({rows, cols, num_tokens: tokens, prefix_tokens: {length: prefix}, words}) {
  const counts = {tokens: spaced(tokens), prefix, patches: spaced(rows * cols)};
  return filled(prefix ? words.sequence : words.sequence_bare, counts);
}
