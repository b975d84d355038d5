// Geometry of patches: cut apart on the board, and in a row in the sequence. Pure functions.

/** @typedef {{row: number, col: number}} Patch counted from 0 */

/** @typedef {{rows: number, cols: number}} Grid */

/**
 * @typedef {object} Layout of a board
 * @property {number} side of a patch
 * @property {number} step from patch to patch
 * @property {number} left
 * @property {number} top of the first patch
 */

/**
 * Fits a grid into a box; a larger gap makes the patches smaller.
 *
 * @param {Grid} grid
 * @param {number} gap space between patches, in sides of a patch
 * @param {number} width of the box
 * @param {number} height
 * @param {number} [edge] free margin on every side
 * @returns {Layout}
 */
export function laidOut({rows, cols}, gap, width, height, edge = 0) {
  const across = (width - 2 * edge) / (cols + (cols - 1) * gap);
  const down = (height - 2 * edge) / (rows + (rows - 1) * gap);
  const side = Math.min(across, down);
  const step = side * (1 + gap);
  return {side, step, left: (width - side - (cols - 1) * step) / 2, top: (height - side - (rows - 1) * step) / 2};
}

/**
 * Upper left corner of a patch.
 *
 * @param {Layout} layout
 * @param {Patch} patch
 * @returns {[number, number]} x, y
 */
export const corner = ({left, top, step}, {row, col}) => [left + col * step, top + row * step];

/**
 * Patch at a point, with half of the gap on each side; null outside the board.
 *
 * @param {Layout} layout
 * @param {Grid} grid
 * @param {number} x
 * @param {number} y
 * @returns {Patch | null}
 */
export function patchAt({side, step, left, top}, {rows, cols}, x, y) {
  const half = (step - side) / 2;
  const row = Math.floor((y - top + half) / step);
  const col = Math.floor((x - left + half) / step);
  return row >= 0 && col >= 0 && row < rows && col < cols ? {row, col} : null;
}

/**
 * Rectangle of a patch in an image.
 *
 * @param {Grid} grid
 * @param {{naturalWidth: number, naturalHeight: number}} image
 * @param {Patch} patch
 * @returns {[number, number, number, number]} x, y, width, height
 */
export function cutOut({rows, cols}, {naturalWidth, naturalHeight}, {row, col}) {
  const width = naturalWidth / cols;
  const height = naturalHeight / rows;
  return [col * width, row * height, width, height];
}

/** @param {number} value @param {number} count */
export const inside = (value, count) => Math.max(0, Math.min(count - 1, value));

/** @param {Grid} grid @param {Patch} patch @returns its number, row by row */
export const numberOf = ({cols}, {row, col}) => row * cols + col;

/** @param {Grid} grid @param {number} number @returns {Patch} */
export const patchOf = ({cols}, number) => ({row: Math.floor(number / cols), col: number % cols});

/** @param {Grid} grid @param {Patch} patch @returns the nearest patch of the grid */
export const nearest = ({rows, cols}, {row, col}) => ({row: inside(row, rows), col: inside(col, cols)});

// ------------------------------------------------------------------------------------ the sequence, in CSS pixels

/** Distance from patch to patch. */
export const TILE = 38;
/** Side of a patch. */
export const SIZE = 34;
/** Distance from prefix token to prefix token. */
export const PREFIX = 84;
/** Width of a prefix token. */
export const PREFIX_SIZE = 80;
/** Border of the strip. */
export const EDGE = 8;

/** @param {number} prefix number of prefix tokens @returns left edge of the first patch */
export const firstPatch = (prefix) => EDGE + prefix * PREFIX;

/**
 * Patches that are at least partly visible.
 *
 * @param {number} scrolled
 * @param {number} width of what is in sight
 * @param {number} prefix
 * @param {number} count of patches
 * @returns {number[]}
 */
export function inSight(scrolled, width, prefix, count) {
  const left = scrolled - firstPatch(prefix);
  const first = Math.max(0, Math.floor(left / TILE));
  const end = Math.min(count, Math.ceil((left + width) / TILE));
  return Array.from({length: Math.max(0, end - first)}, (_, at) => first + at);
}

/**
 * Scroll position that centres a patch in the area beside the prefix tokens.
 *
 * @param {number} patch
 * @param {number} width of what is in sight
 * @param {number} prefix
 * @param {boolean} pinned true where the prefix tokens stay visible
 */
export function scrollTo(patch, width, prefix, pinned) {
  const covered = pinned ? firstPatch(prefix) : 0;
  return firstPatch(prefix) + (patch + 0.5) * TILE - (width + covered) / 2;
}

/**
 * Patches of the sequence in a saved picture: the first ones, the picked one with its neighbours, the last one.
 *
 * @param {number} picked
 * @param {number} count
 * @returns {(number | null)[]} null for omitted patches
 */
export function excerpt(picked, count) {
  const wanted = [0, 1, 2, 3, ...[-2, -1, 0, 1, 2].map((step) => picked + step), count - 1];
  const patches = [...new Set(wanted)].filter((patch) => patch >= 0 && patch < count).sort((a, b) => a - b);
  return patches.flatMap((patch, at) => (at && patch > patches[at - 1] + 1 ? [null, patch] : [patch]));
}
