// Layout of the picture: columns of grids from left to right, and on from the left of the next row.

import {cellAt, placeOf as centreOf, gridOf} from '../canvas/grids.js';

/** @typedef {[number, number, number, number]} Box x, y, width, height */

/**
 * @typedef {object} Layout
 * @property {Box[]} boxes grids: the image, the tokens that enter the first block and that leave each block, the answer
 * @property {Box} image
 * @property {number} heads height of the place for the heads over each grid
 * @property {number} height of the whole picture
 */

export const MARGIN = 20;
export const PREFIX = 26; // height of the line of prefix tokens over a grid
export const NAME = 24;
export const LINE = 19;
const GAP = 24;
const BETWEEN = 26; // between rows of columns
const LEAST_HEADS = 40;
const NARROWEST = 52;
const EASY = 84; // width of a grid that is easy to point at, where the picture may be higher than the stage
const WIDEST = 210;

/**
 * Arranges square or oblong tiles of one shape in a place so that they are as large as possible.
 *
 * @param {number} count
 * @param {number} width
 * @param {number} height
 * @param {number} aspect width of a tile over its height
 * @returns {{perRow: number, side: number}} `side` is the width of a tile with its gap
 */
export function tiled(count, width, height, aspect) {
  let best = {perRow: 1, side: 0};
  for (let perRow = 1; perRow <= count; perRow++) {
    const side = Math.min(width / perRow, (height / Math.ceil(count / perRow)) * aspect);
    if (side > best.side) best = {perRow, side};
  }
  return best;
}

/**
 * Chooses the number of rows with which grids and heads are largest; where nothing fits the picture gets higher.
 *
 * @param {object} wanted
 * @param {number} wanted.width
 * @param {number} wanted.height room on the stage
 * @param {number} wanted.columns
 * @param {number} wanted.aspect width of a grid over its height
 * @param {number} wanted.heads most heads of a block
 * @param {number} wanted.lines lines of numbers under a grid
 * @returns {Layout}
 */
export function layOut({width, height, columns, aspect, heads, lines}) {
  const words = PREFIX + NAME + LINE * lines;
  const inner = width - 2 * MARGIN;
  let best = null;
  for (let rows = 1; rows <= columns; rows++) {
    const perRow = Math.ceil(columns / rows);
    const room = (height - 2 * MARGIN - BETWEEN * (rows - 1)) / rows - words;
    const wide = Math.min(inner / perRow - GAP, WIDEST, (room - LEAST_HEADS) * aspect);
    const forHeads = room - wide / aspect;
    const {side} = tiled(heads, wide + GAP / 2, forHeads, aspect);
    const fits = wide >= NARROWEST;
    const score = Math.min(wide, 1.6 * EASY) + 1.2 * Math.min(side, wide);
    if (fits && (!best || score > 1.05 * best.score)) best = {perRow, wide, heads: forHeads, score, rows};
  }
  if (!best) {
    const perRow = Math.max(1, Math.min(columns, Math.floor(inner / (EASY + GAP))));
    const wide = Math.min(WIDEST, inner / perRow - GAP);
    best = {perRow, wide, heads: wide / aspect, rows: Math.ceil(columns / perRow)};
  }
  const {perRow, wide} = best;
  const tall = wide / aspect;
  const shelf = Math.min(best.heads, heads * (tall + 6));
  const step = perRow > 1 ? (inner - wide) / (perRow - 1) : 0;
  const high = shelf + words + tall + BETWEEN;
  const spare = Math.max(0, height - 2 * MARGIN - (best.rows * high - BETWEEN)) / 2;
  const boxes = Array.from({length: columns}, (_, i) => {
    const row = Math.floor(i / perRow);
    return /** @type {Box} */ ([
      MARGIN + (i % perRow) * step,
      MARGIN + spare + row * high + shelf + PREFIX,
      wide,
      tall,
    ]);
  });
  return {
    boxes,
    image: largeImage(boxes, shelf, aspect),
    heads: shelf,
    height: Math.max(height, 2 * MARGIN + best.rows * high - BETWEEN),
  };
}

/**
 * Returns the box of the image: its column, or the room over the first two columns, which have no heads, where that is
 * larger.
 *
 * @param {Box[]} boxes
 * @param {number} shelf height of the place for the heads
 * @param {number} aspect
 * @returns {Box}
 */
function largeImage(boxes, shelf, aspect) {
  const [[x, y, wide], [nextX, nextY]] = boxes;
  const width = Math.min(nextX + wide - x, (shelf - NAME) * aspect);
  if (nextY !== y || width < 1.3 * wide) return boxes[0];
  return [x, y - PREFIX - 6 - NAME - width / aspect, width, width / aspect];
}

/**
 * Returns the boxes of a block's heads, over its grid.
 *
 * @param {Layout} layout
 * @param {number} column
 * @param {number} count
 * @returns {Box[]}
 */
export function headBoxes({boxes, heads}, column, count) {
  const [x, y, wide, tall] = boxes[column];
  const aspect = wide / tall;
  const {perRow, side} = tiled(count, wide + GAP / 2, heads - 6, aspect);
  const rows = Math.ceil(count / perRow);
  const left = x + wide / 2 - (perRow * side) / 2;
  const top = y - PREFIX - 6 - (rows * side) / aspect;
  const gap = Math.min(4, 0.1 * side);
  return Array.from({length: count}, (_, h) => [
    left + (h % perRow) * side + gap / 2,
    top + (Math.floor(h / perRow) * side) / aspect,
    side - gap,
    (side - gap) / aspect,
  ]);
}

/**
 * Returns the place of a token in a column: a patch of its grid, or a prefix token over it.
 *
 * @param {Box} box
 * @param {number[]} grid rows and columns
 * @param {number} code index of a patch, -1 - i for prefix token i; anything lower is the mean over patches
 * @param {number} prefix number of prefix tokens
 * @returns {[number, number]}
 */
export function placeOf([x, y, wide, tall], [rows, cols], code, prefix) {
  if (code >= 0)
    return [x + ((code % cols) + 0.5) * (wide / cols), y + (Math.floor(code / cols) + 0.5) * (tall / rows)];
  const at = -1 - code;
  if (at >= prefix) return [x + wide / 2, y - PREFIX / 2];
  const step = Math.min(20, wide / prefix);
  return [x + wide / 2 + (at - (prefix - 1) / 2) * step, y - PREFIX / 2];
}

/**
 * Returns the patch of another grid that holds the centre of a patch's visible part.
 *
 * @param {number} code
 * @param {number[]} here rows, columns, and side of a patch in pixels of the image
 * @param {number[]} there
 * @param {{naturalHeight: number, naturalWidth: number}} image
 */
export function carried(code, here, there, image) {
  if (code < 0) return code;
  const [from, to] = [here, there].map(([rows, cols, cell]) => gridOf({rows, cols, cell}, image, 'queries'));
  return cellAt(to, centreOf(from, code)) ?? to.rows * to.cols - 1;
}

/** @param {Box} box */
export const isIn = ([x, y, wide, tall], [px, py], more = 0) =>
  px >= x - more && px < x + wide + more && py >= y - more && py < y + tall + more;

/**
 * @typedef {object} Hit thing under the pointer
 * @property {'token' | 'head' | 'block' | 'lens' | 'adds' | 'answer' | 'image'} kind
 * @property {number} [column]
 * @property {number} [code]
 * @property {number} [block]
 * @property {number} [head]
 * @property {number} [rank]
 */

/**
 * @param {[number, number]} point
 * @param {Layout} layout
 * @param {{grids: number[][], heads: number[], prefix: number, lens: boolean, adds: boolean,
 *   answers: number}} scene
 * @returns {Hit | null}
 */
export function hitAt(point, layout, {grids, heads, prefix, lens, adds, answers}) {
  const {boxes, image} = layout;
  for (const [column, ownBox] of boxes.entries()) {
    const box = column === 0 ? image : ownBox;
    const [x, y, wide, tall] = box;
    const row = column - 1;
    const isGrid = row >= 0 && row < grids.length;
    if (isIn(box, point)) {
      const [rows, cols] = grids[Math.max(0, Math.min(row, grids.length - 1))];
      const at = (from, size, count) => Math.min(count - 1, Math.floor((from / size) * count));
      const code = at(point[1] - y, tall, rows) * cols + at(point[0] - x, wide, cols);
      if (isGrid || column === 0) return {kind: 'token', column: Math.max(1, column), code};
      const rank = Math.floor(((point[1] - y) / tall) * Math.max(5, answers));
      return rank < answers ? {kind: 'answer', rank} : null;
    }
    if (!isGrid) continue;
    for (let i = 0; i < prefix; i++) {
      const [px, py] = placeOf(box, grids[row], -1 - i, prefix);
      if (Math.hypot(point[0] - px, point[1] - py) < 10) return {kind: 'token', column, code: -1 - i};
    }
    const block = row - 1;
    if (block < 0) continue;
    const head = headBoxes(layout, column, heads[block]).findIndex((place) => isIn(place, point));
    if (head >= 0) return {kind: 'head', block, head};
    if (!isIn([x, y + tall, wide, NAME + LINE * (Number(lens) + 2 * Number(adds))], point)) continue;
    const line = Math.floor((point[1] - y - tall - NAME) / LINE);
    if (line < 0) return {kind: 'block', block};
    return lens && line === 0 ? {kind: 'lens', block} : {kind: 'adds', block};
  }
  return null;
}
