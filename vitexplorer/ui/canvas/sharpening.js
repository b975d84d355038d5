// Sharpened maps: means over moved images, which Python computes. They come with 4 passes first, then with four times
// as many, up to the number that a person chose; what has come stays while more is computed.

import {PASSES, selectionOf} from './selection.js';

const REST = 250; // ms without a change before passes are requested

/**
 * @typedef {object} Fine a sharpened map
 * @property {number} passes
 * @property {import('./grids.js').Grid} grid
 * @property {Float32Array} map
 * @property {number} peak its largest magnitude
 */

/**
 * Address of the sharpened maps of a selection, without the number of passes; empty where there are none.
 *
 * @param {import('./selection.js').Block} block
 * @param {import('./selection.js').State} state
 */
function addressOf(block, state) {
  const {sharpened, sharpened_by: by = []} = block.value;
  if (!sharpened || block.isPreview) return '';
  const selection = selectionOf(state, block);
  return by.reduce((address, name) => `${address}&${name}=${encodeURIComponent(selection[name])}`, sharpened);
}

/**
 * @param {() => void} changed called when there is something new to show
 */
export function newSharpener(changed) {
  let address = '';
  let goal = 1;
  let fine = /** @type {Fine | null} */ (null);
  let problem = /** @type {string | null} */ (null); // why no more passes come; empty where no server answers
  let request = new AbortController();
  let timer = 0;

  /** Follows the selection: requests its maps once it rests, and stops what nobody wants any more. */
  function follow(block, state) {
    const now = addressOf(block, state);
    if (now === address && state.sharpen === goal) return;
    if (now !== address || state.sharpen < (fine?.passes ?? 1)) fine = null;
    address = now;
    goal = state.sharpen;
    problem = null;
    clearTimeout(timer);
    request.abort();
    request = new AbortController();
    if (address && goal > 1) timer = setTimeout(next, REST, block.grids.keys, request.signal);
  }

  async function next(grid, signal) {
    const passes = PASSES.find((more) => more > (fine?.passes ?? 1));
    if (!passes || passes > goal) return;
    try {
      const answer = await fetch(`${address}&sharpen=${passes}`, {signal});
      if (!answer.ok) {
        problem = await answer.text();
        return changed();
      }
      const map = new Float32Array(await answer.arrayBuffer());
      const parts = Math.sqrt(passes);
      const {rows, cols, high, wide} = grid;
      fine = {
        passes,
        map,
        peak: map.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
        grid: {rows: rows * parts, cols: cols * parts, high: high / parts, wide: wide / parts},
      };
      next(grid, signal);
    } catch {
      if (signal.aborted) return;
      problem = '';
    }
    changed();
  }

  return {
    follow,
    /** Sharpened map of the selection; null where there is none yet. */
    fine: () => fine,
    /** Number of passes on the screen, of all that were chosen, and why there are no more. */
    told: () => ({done: fine?.passes ?? 1, of: goal, problem}),
  };
}
