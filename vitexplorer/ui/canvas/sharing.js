// What canvases share with each other and with the page's address: display settings are one choice for all of them;
// those with the same link share head and hovered or pinned place. Each finds its own patch at the place; a token that
// it lacks becomes the mean over patches.

import {inAddress, onLink, onWritten, writeAddress} from '../kit/address.js';
import {filled, setText} from '../kit/dom.js';
import {cellAt, placeOf} from './grids.js';
import {MEAN} from './payload.js';
import {queryCode, queryText} from './queries.js';
import {firstState, settle} from './selection.js';

/** Parameters of the address by the names of the state. */
const NAMES = {
  mode: 'mode',
  colormap: 'colormap',
  scale: 'scale',
  opacity: 'opacity',
  smooth: 'smooth',
  keep_mass: 'keep',
  sharpen: 'sharpen',
};

/** Choices of a person since the page was loaded; values from Python no longer change them. */
let chosen = /** @type {Partial<import('./selection.js').State> | null} */ (null);

/** Takes the display of a newly opened link; settings that it lacks return to their defaults. */
onLink(() => {
  const state = firstState();
  const said = Object.fromEntries(Object.entries(NAMES).map(([name, parameter]) => [name, inAddress(parameter)]));
  const share = (text) => (text ? Number(text) : NaN);
  const shares = {opacity: share(said.opacity), keep_mass: share(said.keep_mass)};
  settle(state, {heads: 0, prefix: []}, {...said, ...shares, smooth: said.smooth === '1'});
  choose(state);
  document.dispatchEvent(new CustomEvent('vx-display', {detail: {sender: null}}));
});

/** @param {import('./selection.js').State} state */
function choose(state) {
  chosen = Object.fromEntries(Object.keys(NAMES).map((name) => [name, state[name]]));
}

/** @param {Record<string, any>} changes */
export const isDisplay = (changes) => Object.keys(changes).some((name) => Object.hasOwn(NAMES, name));

/** @param {import('./selection.js').State} state */
export function takeDisplay(state) {
  if (chosen) Object.assign(state, chosen);
}

/**
 * @param {HTMLElement} root of the sending canvas
 * @param {import('./selection.js').State} state
 */
export function tellDisplay(root, state) {
  choose(state);
  document.dispatchEvent(new CustomEvent('vx-display', {detail: {sender: root}}));
}

/**
 * Follows the choices of other canvases while this one is on the page.
 *
 * @param {HTMLElement} root
 * @param {import('./selection.js').State} state
 * @param {() => void} changed
 */
export function hearDisplay(root, state, changed) {
  document.addEventListener('vx-display', function hear(event) {
    if (!root.isConnected) return document.removeEventListener('vx-display', hear);
    if (/** @type {CustomEvent} */ (event).detail.sender === root) return;
    takeDisplay(state);
    changed();
  });
}

/**
 * Display settings of a selection as parameters of the address; empty for defaults.
 *
 * @param {Record<string, any>} selection
 * @returns {Record<string, string>}
 */
export function displayParameters(selection) {
  const first = firstState();
  const written = (value) =>
    value === true ? '1' : typeof value === 'number' ? String(Number(value.toFixed(2))) : value;
  return Object.fromEntries(
    Object.entries(NAMES).map(([name, parameter]) => [
      parameter,
      selection[name] === first[name] ? '' : written(selection[name]),
    ]),
  );
}

/** Parameters under which links named the selection of a room before it was one for all rooms; no longer written. */
const FORMER = {source: '', both_block: '', both_head: '', both_query: ''};

/**
 * Selection as parameters of the address.
 *
 * @param {Record<string, any>} selection
 */
export const parametersOf = (selection) => {
  const {block, head, query} = selection;
  return {block, head, query, ...FORMER, ...displayParameters(selection)};
};

/**
 * Writes what a person picks on a canvas into the address, so that a link opens the very map, and takes from there what
 * was picked in another room since.
 *
 * @param {string} id of the canvas's component
 * @param {(selection: any) => import('../kit/address.js').Changes} parameters
 * @param {string[]} shared names of the selection that this canvas shares with other rooms
 */
export function shareSelection(id, parameters, shared = ['block', 'head', 'query']) {
  const inUrl = () => JSON.stringify(shared.map(inAddress));
  let known = inUrl(); // written or taken by the canvas, or by Python from a link

  /** Returns true where the canvas changes by it. */
  function take(root) {
    const before = root.vx.get();
    known = inUrl();
    const news = shared
      .map((name) => [name, inAddress(name)])
      .filter(([name, now]) => now && now !== `${before[name]}`);
    if (news.length) root.vx.set(Object.fromEntries(news.map(([name, now]) => [name, name === 'block' ? +now : now])));
    return news.length > 0;
  }

  document.addEventListener('vx-select', ({target, detail}) => {
    if (!target.closest(`#${id}`) || (inUrl() !== known && take(target))) return;
    writeAddress(parameters(detail));
    known = inUrl();
  });
  onWritten(() => {
    const root = /** @type {any} */ (document.querySelector(`#${id} .vx-canvas`));
    if (inUrl() !== known && root?.vx?.get()) take(root);
  });
  onLink(() => {
    known = inUrl();
  });
}

/**
 * @param {HTMLElement} root of the sending canvas
 * @param {import('./selection.js').Block} block
 * @param {import('./selection.js').State} state
 * @param {'hover' | 'pin'} kind
 */
export function tellLinked(root, {value, grids}, state, kind) {
  if (!value.link) return;
  const pinned = state.pinned === null ? null : placeOf(grids.queries, state.pinned);
  const at = kind === 'hover' ? state.hover : pinned;
  const token = queryText(value, state.base);
  const head = String(state.head);
  document.dispatchEvent(new CustomEvent('vx-link', {detail: {link: value.link, sender: root, kind, at, token, head}}));
}

/**
 * Follows linked canvases while this one is on the page.
 *
 * @param {HTMLElement} root
 * @param {() => import('./selection.js').Block | null} blockNow
 * @param {import('./selection.js').State} state
 * @param {(pinned: boolean) => void} changed
 */
export function hearLinked(root, blockNow, state, changed) {
  document.addEventListener('vx-link', function hear({detail: {link, sender, kind, at, token, head}}) {
    if (!root.isConnected) return document.removeEventListener('vx-link', hear);
    const block = blockNow();
    if (!block?.value.link || link !== block.value.link || sender === root) return;
    const {value, grids} = block;
    if (kind === 'hover') state.hover = at;
    else {
      Object.assign(state, {pinned: cellAt(grids.queries, at), base: queryCode(value, token) ?? MEAN});
      settle(state, value, {head});
    }
    changed(kind === 'pin');
  });
}

/**
 * Keeps a line that says where the brightest colour is not the same share on both canvases of a room.
 *
 * @param {HTMLElement} room
 * @param {HTMLElement} line
 * @param {() => string | undefined} sentence with {left} and {right}; none before the room's first value
 */
export function compareScales(room, line, sentence) {
  function compare() {
    const [left, right] = [...room.querySelectorAll('.vx-canvas .high')].map(({textContent}) => textContent);
    const text = sentence();
    setText(line, text && left && right && left !== right ? filled(text, {left, right}) : '');
  }
  new MutationObserver(compare).observe(room, {subtree: true, childList: true, characterData: true});
}
