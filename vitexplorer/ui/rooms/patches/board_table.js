// Numbers of the board: the token of each patch and its place in the image.

import {filled, table} from '../../kit/dom.js';
import {spaced} from '../../kit/formats.js';
import {tokenIndex} from './facts.js';
import {patchOf} from './geometry.js';

const upTo = (count) => [...Array(count).keys()];

/**
 * Table in the layout of the patches.
 *
 * @param {any} value what Python sent
 */
export function numbersOf(value) {
  const {rows, cols, words} = value;
  const index = (row, col) => spaced(tokenIndex(value, {row, col}));
  const lines = upTo(rows).map((row) => [String(row), ...upTo(cols).map((col) => index(row, col))]);
  return [
    table(`${filled(words.board, value)} · ${words.index}`, [words.row_by_col, ...upTo(cols).map(String)], lines, true),
  ];
}

/**
 * CSV with a line for each patch: token, place, and upper left pixel and side in the picture that the model saw.
 *
 * @param {any} value what Python sent
 * @returns {string} comma-separated values
 */
export function csvOf(value) {
  const {rows, cols, patch_size: side} = value;
  const lines = upTo(rows * cols).map((number) => {
    const patch = patchOf(value, number);
    return [tokenIndex(value, patch), patch.row, patch.col, patch.col * side, patch.row * side, side].join(',');
  });
  return `${['token,row,col,left,top,side', ...lines].join('\n')}\n`;
}
