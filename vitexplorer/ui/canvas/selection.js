// State of the selection, and its changes by a person, by Python and by linked canvases. Does not touch the page.

import {COLORMAPS} from './colours.js';
import {cellAt, placeOf} from './grids.js';
import {hasQuery, MEAN} from './payload.js';
import {headFrom, isSilent, queryCode, queryText} from './queries.js';

export const MODES = ['overlay', 'map', 'reveal'];
export const SCALES = ['map', 'heads', 'block'];
export const PASSES = [1, 4, 16, 64]; // of a sharpened map

/**
 * @typedef {object} Block decoded value from Python
 * @property {any} value
 * @property {import('./payload.js').Payload} payload
 * @property {HTMLImageElement | null} image
 * @property {{queries: import('./grids.js').Grid, keys: import('./grids.js').Grid}} grids patches are picked on the
 *   grid of the queries, maps are drawn on the grid of the keys
 * @property {boolean} [isPreview] true for the rows of one query, until the whole block has arrived
 *
 * @typedef {ReturnType<typeof firstState>} State
 */

/** State with nothing pinned and nothing hovered. */
export function firstState() {
  return {
    head: /** @type {string | number} */ ('mean'),
    fusion: 'mean',
    base: MEAN, // the token to which the canvas returns
    pinned: /** @type {number | null} */ (null),
    hover: /** @type {import('./grids.js').Place | null} */ (null),
    mode: 'overlay',
    colormap: 'inferno',
    opacity: 0.8,
    scale: 'map',
    keep_mass: 1,
    smooth: false,
    sharpen: 1,
  };
}

/** Default token of a value. */
export function firstBase(value) {
  return value.prefix.includes('cls') ? queryCode(value, 'cls') : MEAN;
}

/** Requested query: the pinned patch, or the token to which the canvas returns. */
export const wanted = (state) => state.pinned ?? state.base;

/** Requested query if the block has it, otherwise the block's default. */
export function resting(state, {value}) {
  const first = [wanted(state), state.base, firstBase(value), MEAN, ...value.prefix.map((_, i) => -1 - i)];
  return first.find((code) => !isSilent(value, code));
}

/** Returns true where the mouse moves the query; otherwise it reads keys. */
export function follows(state, {value, payload}) {
  return state.pinned === null && !payload.partial && !isSilent(value, MEAN);
}

/** Query whose map is shown: the hovered or the requested one; another while its row is loading. */
export function queryNow(state, block) {
  const hovered = follows(state, block) ? cellAt(block.grids.queries, state.hover) : null;
  if (hovered !== null) return hovered;
  const {payload} = block;
  const at_rest = resting(state, block);
  return hasQuery(payload, at_rest) ? at_rest : payload.index.keys().next().value;
}

/** Key under the mouse, where hovering does not move the query. */
export function keyNow(state, block) {
  return follows(state, block) ? null : cellAt(block.grids.keys, state.hover);
}

/** Applies those changes to the state that are valid for the block. */
export function settle(state, value, changes) {
  const share = (number, least) => (Number.isFinite(number) ? Math.max(least, Math.min(1, number)) : null);
  const query = changes.query == null ? null : queryCode(value, changes.query);
  const valid = {
    head: changes.head == null ? null : headFrom(value, changes.head),
    mode: MODES.includes(changes.mode) ? changes.mode : null,
    colormap: Object.hasOwn(COLORMAPS, changes.colormap ?? '') ? changes.colormap : null,
    scale: SCALES.includes(changes.scale) ? changes.scale : null,
    opacity: share(changes.opacity, 0),
    keep_mass: share(changes.keep_mass, 0.01),
    smooth: typeof changes.smooth === 'boolean' ? changes.smooth : null,
    sharpen: PASSES.find((passes) => passes === Number(changes.sharpen)) ?? null,
  };
  for (const [name, choice] of Object.entries(valid)) if (choice !== null) state[name] = choice;
  if (typeof state.head === 'string') state.fusion = state.head;
  if (query !== null && query >= 0) state.pinned = query;
  if (query !== null && query < 0) Object.assign(state, {base: query, pinned: null});
}

/**
 * Carries the state from one block to the next: a pin keeps its place on the picture, and choices stay where they are
 * valid.
 *
 * @param {State} state
 * @param {Block | null} before
 * @param {Block} next
 * @param {boolean} takesValue true where head, query and display of the value apply
 * @returns {boolean} true where Python must be told the pin again: its name changed, or only its row is sent
 */
export function carryOver(state, before, next, takesValue = true) {
  const place = before && state.pinned !== null ? placeOf(before.grids.queries, state.pinned) : null;
  const {value, payload, grids} = next;
  if (!before?.isPreview || before.value.block !== value.block) state.hover = null;
  state.pinned = cellAt(grids.queries, place);
  const renamed = state.pinned !== null && (payload.partial || grids.queries.cols !== before.grids.queries.cols);
  if (!before || (state.base !== MEAN && value.prefix[-1 - state.base] === undefined)) state.base = firstBase(value);
  if (typeof state.head === 'number' && state.head >= value.heads) state.head = state.fusion;
  if (takesValue) settle(state, value, value);
  return renamed;
}

/** The selection as it is sent to the page and to Python. */
export function selectionOf(state, {value}) {
  const {mode, colormap, opacity, scale, keep_mass, smooth, sharpen} = state;
  const display = {mode, colormap, opacity, scale, keep_mass, smooth, sharpen};
  const query = queryText(value, wanted(state));
  return {block: value.block, head: String(state.head), query, pinned: state.pinned !== null, ...display};
}

/**
 * Target of an arrow key: another query, or another key where no patch is a query. Without a current patch it starts at
 * the centre of the grid.
 *
 * @returns {{query: [number, number]} | {hover: import('./grids.js').Place}}
 */
export function neighbour(state, block, rows, cols) {
  const reads = isSilent(block.value, MEAN);
  const grid = reads ? block.grids.keys : block.grids.queries;
  const code = reads ? (keyNow(state, block) ?? -1) : queryNow(state, block);
  const inside = (at, size) => Math.max(0, Math.min(size - 1, at));
  const [row, col] =
    code < 0
      ? [Math.floor(grid.rows / 2), Math.floor(grid.cols / 2)]
      : [Math.floor(code / grid.cols) + rows, (code % grid.cols) + cols];
  const [at, beside] = [inside(row, grid.rows), inside(col, grid.cols)];
  return reads ? {hover: placeOf(grid, at * grid.cols + beside)} : {query: [at, beside]};
}

/** Next head, or the fused map, in the row of heads. */
export function nextHead(state, value, step) {
  const at = typeof state.head === 'number' ? state.head + 1 : 0;
  const count = value.heads + 1;
  const next = (at + step + count) % count;
  return next === 0 ? state.fusion : next - 1;
}
