// Layout of the maps of all heads in a row of blocks, and the targets of arrow keys in it.

const LARGEST = 46;
const SMALLEST = 8; // CSS pixels
const MANY = 100;

/**
 * Lengths in CSS pixels: between two tiles, around the tiles of a block, between blocks; and the height of everything
 * with the numbers of the blocks.
 *
 * @typedef {{gap: number, frame: number, between: number, high: number}} Lengths
 */

/** @type {(heads: number[]) => Lengths} depends on the number of tiles */
export function lengthsOf(heads) {
  const total = heads.reduce((sum, count) => sum + count, 0);
  return total > MANY ? {gap: 1, frame: 6, between: 3, high: 116} : {gap: 2, frame: 10, between: 6, high: 96};
}

/**
 * Largest tiles with which all blocks fit side by side; the heads of a block wrap into several lines if needed.
 *
 * @param {number[]} heads of each block
 * @param {number} width
 * @param {number} height
 * @param {Lengths} lengths
 * @returns {{tile: number, cols: number[]}} the side of a tile, and the columns of tiles in each block
 */
export function layTiles(heads, width, height, {gap, frame, between}) {
  for (let tile = LARGEST; ; tile--) {
    const most = Math.max(1, Math.floor((height + gap) / (tile + gap)));
    const cols = heads.map((count) => Math.ceil(count / Math.min(count, most)));
    const wide = cols.reduce((sum, count) => sum + count * (tile + gap) - gap + frame, between * (heads.length - 1));
    if (wide <= width || tile === SMALLEST) return {tile, cols};
  }
}

/**
 * Head beside, above or below another; the same head at an edge.
 *
 * @param {{block: number, head: number}} from
 * @param {number} down
 * @param {number} right
 * @param {number[]} heads of each block
 * @param {number[]} cols side by side in each block
 */
export function tileBeside({block, head}, down, right, heads, cols) {
  const row = Math.floor(head / cols[block]) + down;
  const col = (head % cols[block]) + right;
  const next = block + (col < 0 ? -1 : col >= cols[block] ? 1 : 0);
  if (next < 0 || next >= heads.length) return {block, head};
  const at = next < block ? cols[next] - 1 : next > block ? 0 : col;
  const rows = Math.ceil(heads[next] / cols[next]);
  const inside = next === block ? row : Math.min(row, rows - 1);
  if (inside < 0 || inside >= rows) return {block, head};
  return {block: next, head: Math.min(heads[next] - 1, inside * cols[next] + at)};
}
