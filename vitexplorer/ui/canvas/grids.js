// Patch grids on the picture: conversion between patches and places; windows of a grid, and the shapes to paint them.

const ROUNDING = 1e-9; // the centre of a patch may be the border of two patches of a grid that is twice as fine

/**
 * @typedef {object} Grid patches need not end where the picture ends
 * @property {number} rows
 * @property {number} cols
 * @property {number} high height of a patch as a share of the picture's
 * @property {number} wide its width
 *
 * @typedef {{y: number, x: number}} Place in shares of the picture
 */

/**
 * The grid of a value's queries, or of its keys, on the picture.
 *
 * @param {any} value
 * @param {{naturalHeight: number, naturalWidth: number} | null} image
 * @param {'queries' | 'keys'} whose
 * @returns {Grid}
 */
export function gridOf(value, image, whose) {
  const {rows, cols, cell} = (whose === 'keys' && value.keys) || value;
  const fills = !image || !cell;
  return {
    rows,
    cols,
    high: fills ? 1 / rows : cell / image.naturalHeight,
    wide: fills ? 1 / cols : cell / image.naturalWidth,
  };
}

/**
 * The patch at a place; null beside the patches.
 *
 * @param {Grid} grid
 * @param {Place | null} place
 * @returns {number | null}
 */
export function cellAt(grid, place) {
  const row = place ? Math.floor(place.y / grid.high + ROUNDING) : -1;
  const col = place ? Math.floor(place.x / grid.wide + ROUNDING) : -1;
  return row >= 0 && col >= 0 && row < grid.rows && col < grid.cols ? row * grid.cols + col : null;
}

/**
 * Centre of the visible part of a patch.
 *
 * @param {Grid} grid
 * @param {number} cell
 * @returns {Place}
 */
export function placeOf({cols, high, wide}, cell) {
  const middle = (at, side) => (at * side + Math.min(1, (at + 1) * side)) / 2;
  return {y: middle(Math.floor(cell / cols), high), x: middle(cell % cols, wide)};
}

/**
 * @typedef {object} Window
 * @property {Uint8Array} inside 1 for patches of the window, over the whole grid
 * @property {Int32Array} local patches of the window, row by row in the window's own layout
 * @property {number} rows
 * @property {number} cols
 *
 * @typedef {[number, number, number, number]} Box left, top, right, bottom in patches; of a line its two ends
 */

/**
 * Rows or columns of a window in the window's own order; a window that wraps around a grid of `size` lines begins at
 * the far edge.
 *
 * @param {Iterable<number>} lines
 * @param {number} size
 * @returns {number[]}
 */
export function inOrder(lines, size) {
  const sorted = [...new Set(lines)].sort((a, b) => a - b);
  const gap = sorted.findIndex((line, i) => i > 0 && line > sorted[i - 1] + 1);
  const wraps = gap > 0 && sorted[0] === 0 && sorted.at(-1) === size - 1;
  return wraps ? [...sorted.slice(gap), ...sorted.slice(0, gap)] : sorted;
}

/**
 * Window of a payload, which may be shifted and wrap around the grid; null for the whole grid.
 *
 * @param {import('./payload.js').Payload} payload
 * @param {number} w
 * @returns {Window | null}
 */
export function windowOf(payload, w) {
  const name = `window ${w}`;
  if (!payload.kept.has(name)) {
    const patches = payload.positions.subarray(w * payload.keys, (w + 1) * payload.keys).filter((p) => p >= 0);
    const rows = inOrder(
      patches.map((p) => Math.floor(p / payload.cols)),
      payload.rows,
    );
    const cols = inOrder(
      patches.map((p) => p % payload.cols),
      payload.cols,
    );
    const inside = new Uint8Array(payload.cells);
    for (const p of patches) inside[p] = 1;
    const local = Int32Array.from(rows.flatMap((row) => cols.map((col) => row * payload.cols + col)));
    const whole = patches.length === payload.cells;
    payload.kept.set(name, whole ? null : {inside, local, rows: rows.length, cols: cols.length});
  }
  return payload.kept.get(name);
}

/**
 * Boxes that together cover all patches outside the window.
 *
 * @param {Window} window
 * @param {number} rows
 * @param {number} cols
 * @returns {Box[]}
 */
export function outsideOf(window, rows, cols) {
  /** @type {Box[]} */
  const found = [];
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) {
      if (window.inside[row * cols + col]) continue;
      const start = col;
      while (col + 1 < cols && !window.inside[row * cols + col + 1]) col++;
      const above = found.find((box) => box[0] === start && box[2] === col + 1 && box[3] === row);
      if (above) above[3] = row + 1;
      else found.push([start, row, col + 1, row + 1]);
    }
  }
  return found;
}

/**
 * Lines along the border of the window.
 *
 * @param {Window} window
 * @param {number} rows
 * @param {number} cols
 * @returns {Box[]}
 */
export function borderOf(window, rows, cols) {
  /** @type {Box[]} */
  const sides = [];
  const inside = (row, col) => row >= 0 && col >= 0 && row < rows && col < cols && window.inside[row * cols + col];
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) {
      if (!inside(row, col)) continue;
      if (!inside(row - 1, col)) sides.push([col, row, col + 1, row]);
      if (!inside(row + 1, col)) sides.push([col, row + 1, col + 1, row + 1]);
      if (!inside(row, col - 1)) sides.push([col, row, col, row + 1]);
      if (!inside(row, col + 1)) sides.push([col + 1, row, col + 1, row + 1]);
    }
  }
  return sides;
}
