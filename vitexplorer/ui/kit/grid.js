// Patches of a grid: the patch at a pointer, the patches along a stroke, and their text form.

/**
 * @typedef {object} Board patch grid on a picture
 * @property {number} rows
 * @property {number} cols
 * @property {[number, number]} covered shares of the picture's height and width that the grid covers
 */

/** @typedef {[number, number]} At row and column, which may lie outside the grid */

/** @type {Record<string, At>} */
export const ARROWS = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

/**
 * Returns the patch at a point of the picture; outside the grid if the point is.
 *
 * @param {number} down share of the picture's height, 0 at its top
 * @param {number} right share of its width
 * @param {Board} board
 * @returns {At}
 */
export function patchAt(down, right, {rows, cols, covered: [tall, wide]}) {
  return [Math.floor((down / tall) * rows), Math.floor((right / wide) * cols)];
}

/**
 * @param {At} at
 * @param {Board} board
 * @returns {At} the nearest patch of the grid
 */
export function nearest([row, col], {rows, cols}) {
  return [Math.min(rows - 1, Math.max(0, row)), Math.min(cols - 1, Math.max(0, col))];
}

/**
 * @param {At} at
 * @param {Board} board
 */
export function isOn([row, col], {rows, cols}) {
  return row >= 0 && row < rows && col >= 0 && col < cols;
}

/**
 * Returns every patch on the straight line between two, both included; a quick pointer skips some.
 *
 * @param {At} from
 * @param {At} to
 * @returns {At[]}
 */
export function line(from, to) {
  const steps = Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]), 1);
  const between = (axis, step) => Math.round(from[axis] + ((to[axis] - from[axis]) * step) / steps);
  return Array.from({length: steps + 1}, (_, step) => [between(0, step), between(1, step)]);
}

/**
 * @param {string} text `3.4+3.5` (row.column) or numbers, `0,1,17`
 * @param {Board} board
 * @returns {Set<number>}
 */
export function readPatches(text, {cols}) {
  const parts = text.split(/[+,]/).filter(Boolean);
  return new Set(
    parts.map((part) => {
      const [row, col] = part.split('.').map(Number);
      return col === undefined ? row : row * cols + col;
    }),
  );
}

/**
 * @param {Iterable<number>} patches
 * @param {Board} board
 * @returns {string} text for `readPatches`, row by row
 */
export function writePatches(patches, {cols}) {
  const sorted = [...patches].sort((one, other) => one - other);
  return sorted.map((patch) => `${Math.floor(patch / cols)}.${patch % cols}`).join('+');
}
