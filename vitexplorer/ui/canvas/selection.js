// What is selected on the canvas, and how it follows from what a person, Python or a linked canvas wants. No page here.

import {COLORMAPS} from './colormaps.js';
import {cellAt, placeOf} from './grids.js';
import {hasQuery, MEAN} from './payload.js';
import {headFrom, isSilent, queryCode, queryText} from './queries.js';

export const MODES = ['overlay', 'map', 'reveal'];
export const SCALES = ['map', 'heads', 'block'];

/**
 * @typedef {object} Block what Python sent, decoded
 * @property {any} value
 * @property {import('./payload.js').Payload} payload
 * @property {HTMLImageElement | null} image
 * @property {{queries: import('./grids.js').Grid, keys: import('./grids.js').Grid}} grids patches are picked on that of
 *   the queries, maps drawn on that of the keys
 * @property {boolean} [isPreview] whether these are rows of one query, until the whole block is there
 *
 * @typedef {ReturnType<typeof firstState>} State
 */

/** Nothing pinned, nothing pointed at. */
export function firstState() {
  return {
    head: /** @type {string | number} */ ('mean'),
    fusion: 'mean',
    base: MEAN,  // the token the canvas returns to
    pinned: /** @type {number | null} */ (null),
    hover: /** @type {import('./grids.js').Place | null} */ (null),
    mode: 'overlay', colormap: 'inferno', opacity: 0.8, scale: 'map', keep_mass: 1, smooth: false,
  };
}

/** The token that a value begins with. */
export function firstBase(value) {
  return value.prefix.includes('cls') ? queryCode(value, 'cls') : MEAN;
}

/** What a person wants to look from: the pinned patch, or the token the canvas returns to. */
export const wanted = (state) => state.pinned ?? state.base;

/** The same where that token looks in this block, otherwise what a block begins with. */
export function resting(state, {value}) {
  const first = [wanted(state), state.base, firstBase(value), MEAN, ...value.prefix.map((_, i) => -1 - i)];
  return first.find((code) => !isSilent(value, code));
}

/** Whether the query moves with the mouse; otherwise keys are read. */
export function follows(state, {value, payload}) {
  return state.pinned === null && !payload.partial && !isSilent(value, MEAN);
}

/** The query whose map is shown: the hovered patch or the resting one; another while that is on its way. */
export function queryNow(state, block) {
  const hovered = follows(state, block) ? cellAt(block.grids.queries, state.hover) : null;
  if (hovered !== null) return hovered;
  const {payload} = block, at_rest = resting(state, block);
  return hasQuery(payload, at_rest) ? at_rest : payload.index.keys().next().value;
}

/** The key under the mouse, where hovering does not move the query. */
export function keyNow(state, block) {
  return follows(state, block) ? null : cellAt(block.grids.keys, state.hover);
}

/** Takes over into the state those changes that make sense here. */
export function settle(state, value, changes) {
  const share = (number, least) => (Number.isFinite(number) ? Math.max(least, Math.min(1, number)) : null);
  const query = changes.query == null ? null : queryCode(value, changes.query);
  const found = {
    head: changes.head == null ? null : headFrom(value, changes.head),
    mode: MODES.includes(changes.mode) ? changes.mode : null,
    colormap: Object.hasOwn(COLORMAPS, changes.colormap ?? '') ? changes.colormap : null,
    scale: SCALES.includes(changes.scale) ? changes.scale : null,
    opacity: share(changes.opacity, 0),
    keep_mass: share(changes.keep_mass, 0.01),
    smooth: typeof changes.smooth === 'boolean' ? changes.smooth : null,
  };
  for (const [name, choice] of Object.entries(found)) if (choice !== null) state[name] = choice;
  if (typeof state.head === 'string') state.fusion = state.head;
  if (query !== null && query >= 0) state.pinned = query;
  if (query !== null && query < 0) Object.assign(state, {base: query, pinned: null});
}

/**
 * Brings the state from one block to the next: a pin keeps its place on the picture, and a person's choices stay where
 * they still make sense.
 *
 * @param {State} state
 * @param {Block | null} before
 * @param {Block} next
 * @param {boolean} told whether what the value says of head, query and display counts
 * @returns {boolean} whether Python has to hear of the pin again: its name changed, or only its row travels
 */
export function carryOver(state, before, next, told = true) {
  const place = before && state.pinned !== null ? placeOf(before.grids.queries, state.pinned) : null;
  const {value, payload, grids} = next;
  state.hover = null;
  state.pinned = cellAt(grids.queries, place);
  const renamed = state.pinned !== null && (payload.partial || grids.queries.cols !== before.grids.queries.cols);
  if (!before || (state.base !== MEAN && value.prefix[-1 - state.base] === undefined)) state.base = firstBase(value);
  if (typeof state.head === 'number' && state.head >= value.heads) state.head = state.fusion;
  if (told) settle(state, value, value);
  return renamed;
}

/** The selection as the page and Python hear of it. */
export function selectionOf(state, {value}) {
  return {
    block: value.block, head: String(state.head), query: queryText(value, wanted(state)), pinned: state.pinned !== null,
    mode: state.mode, colormap: state.colormap, opacity: state.opacity, scale: state.scale,
    keep_mass: state.keep_mass, smooth: state.smooth,
  };
}

/**
 * Where an arrow key leads: to another query, or, where no patch looks, to another key that is read. From the middle of
 * the grid where it is none.
 *
 * @returns {{query: [number, number]} | {hover: import('./grids.js').Place}}
 */
export function neighbour(state, block, rows, cols) {
  const reads = isSilent(block.value, MEAN), grid = reads ? block.grids.keys : block.grids.queries;
  const code = reads ? keyNow(state, block) ?? -1 : queryNow(state, block);
  const inside = (at, size) => Math.max(0, Math.min(size - 1, at));
  const [row, col] = code < 0 ? [Math.floor(grid.rows / 2), Math.floor(grid.cols / 2)]
    : [Math.floor(code / grid.cols) + rows, code % grid.cols + cols];
  const [at, beside] = [inside(row, grid.rows), inside(col, grid.cols)];
  return reads ? {hover: placeOf(grid, at * grid.cols + beside)} : {query: [at, beside]};
}

/** The head, or the fused map, that follows in the strip. */
export function nextHead(state, value, step) {
  const at = typeof state.head === 'number' ? state.head + 1 : 0, count = value.heads + 1, next = (at + step + count) % count;
  return next === 0 ? state.fusion : next - 1;
}
