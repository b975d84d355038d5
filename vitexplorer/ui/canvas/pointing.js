// Mouse, touch and keyboard on the picture, translated into actions; and the button that runs through the blocks.

import {cellAt} from './grids.js';

const PACE = 900; // ms per block
const DRAG = 8; // CSS pixels that a finger moves before it drags

/**
 * @typedef {object} Acts
 * @property {() => boolean} ready true where there is a picture
 * @property {() => import('./grids.js').Grid} aimed the grid for hovering
 * @property {() => import('./grids.js').Grid} queries the grid for clicking
 * @property {() => import('./grids.js').Place | null} hovered
 * @property {() => number | null} followed the query under the pointer, where the query follows it
 * @property {(place: import('./grids.js').Place | null, since?: number) => void} hover
 * @property {(cell: number) => void} pick
 */

/** @returns {import('./grids.js').Place | null} */
function placeUnder(view, event) {
  const box = view.getBoundingClientRect();
  const y = (event.clientY - box.top) / box.height;
  const x = (event.clientX - box.left) / box.width;
  return y >= 0 && x >= 0 && y < 1 && x < 1 ? {y, x} : null;
}

/**
 * @param {HTMLElement} view
 * @param {Acts} acts
 */
export function listenToPointer(view, acts) {
  let touch = null;
  const byMouse = (event) => event.pointerType === 'mouse';

  view.addEventListener('pointerdown', (event) => {
    if (acts.ready() && !byMouse(event)) touch = {x: event.clientX, y: event.clientY, dragged: false};
  });
  view.addEventListener('pointermove', (event) => {
    if (!acts.ready()) return;
    if (!byMouse(event)) {
      if (!touch) return;
      touch.dragged ||= Math.hypot(event.clientX - touch.x, event.clientY - touch.y) > DRAG;
      if (!touch.dragged) return;
    }
    const place = placeUnder(view, event);
    const grid = acts.aimed();
    if (cellAt(grid, place) !== cellAt(grid, acts.hovered())) acts.hover(place, event.timeStamp);
  });
  view.addEventListener('pointerup', (event) => {
    if (!acts.ready() || byMouse(event)) return;
    const dragged = touch?.dragged;
    const cell = acts.followed();
    touch = null;
    if (!dragged || cell === null) return;
    acts.hover(null);
    acts.pick(cell);
  });
  view.addEventListener('pointercancel', () => {
    touch = null;
    if (acts.ready()) acts.hover(null);
  });
  view.addEventListener('pointerleave', (event) => {
    if (acts.ready() && byMouse(event)) acts.hover(null);
  });
  view.addEventListener('click', (event) => {
    const cell = acts.ready() ? cellAt(acts.queries(), placeUnder(view, event)) : null;
    if (cell !== null) acts.pick(cell);
  });
}

/**
 * @param {HTMLElement} view
 * @param {() => boolean} ready
 * @param {Record<string, () => void>} keys actions by the name of the key, letters in lower case
 */
export function listenToKeys(view, ready, keys) {
  view.addEventListener('keydown', (event) => {
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!ready() || !act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}

/**
 * Runs once through the blocks, until a person does anything else.
 *
 * @param {HTMLElement} button
 * @param {object} blocks
 * @param {() => {block: number, depth: number, walks_down: boolean} | null} blocks.at the block on the screen; null
 *   while another is loading
 * @param {(block: number) => void} blocks.go
 */
export function newPlayer(button, {at, go}) {
  let timer = 0;
  let first = -1;

  function stop() {
    clearInterval(timer);
    timer = 0;
    button.setAttribute('aria-pressed', 'false');
    for (const kind of ['pointerdown', 'keydown', 'wheel']) document.removeEventListener(kind, interrupt, true);
  }

  function interrupt(event) {
    if (!button.contains(event.target)) stop(); // the button stops the playback itself
  }

  function step() {
    const here = at();
    if (!button.isConnected) return stop();
    if (!here) return;
    const next = (here.block + (here.walks_down ? here.depth - 1 : 1)) % here.depth;
    go(next);
    if (next === first) stop();
  }

  button.addEventListener('click', () => {
    if (timer) return stop();
    first = at()?.block ?? -1;
    timer = setInterval(step, PACE);
    button.setAttribute('aria-pressed', 'true');
    for (const kind of ['pointerdown', 'keydown', 'wheel'])
      document.addEventListener(kind, interrupt, {capture: true, passive: true});
    step();
  });
}
