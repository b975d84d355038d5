// Patch grids on the picture: conversion between patches and places.

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
