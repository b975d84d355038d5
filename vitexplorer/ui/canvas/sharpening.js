// Sharpened maps: means over moved images, which Python computes. They come with 4 passes first, then with four times
// as many, up to the number that a person chose; what has come stays while more is computed. The first picture of the
// page is sharpened by itself where its value says so and nobody has touched it; that is no choice, and any act of a
// person ends it.

import {PASSES, selectionOf} from './selection.js';

const REST = 250; // ms without a change before passes are requested
const UNTOUCHED = 2000; // ms on the screen without a change before a picture is sharpened by itself
const BY_ITSELF = 16; // passes, the last of them only after quick first ones
const QUICK = 2000; // ms
const TRIES = 5; // times that a busy server is asked, each after twice as long

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
 * @param {HTMLCanvasElement} view the picture
 * @param {ReturnType<typeof import('../kit/motion.js').newBlending>} blending of the picture
 * @param {() => void} changed called when there is something new to show
 */
export function newSharpener(view, blending, changed) {
  let address = '';
  let goal = 1;
  let fine = /** @type {Fine | null} */ (null);
  let problem = /** @type {string | null} */ (null); // why no more passes come; empty where no server answers
  let request = new AbortController();
  let timer = 0;
  let untouched = /** @type {boolean | null} */ (null); // true for a first picture to sharpen; null before it is there
  let tries = 0;

  /** Follows the selection: requests its maps once it rests, and stops what nobody wants any more. */
  function follow(block, state) {
    const now = addressOf(block, state);
    untouched ??= Boolean(now && block.value.sharpens_itself && state.sharpen === 1);
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

  async function next(grid, signal, itself = false) {
    const passes = PASSES.find((more) => more > (fine?.passes ?? 1));
    if (!passes || passes > (itself ? BY_ITSELF : goal)) return;
    const since = performance.now();
    try {
      const answer = await fetch(`${address}&sharpen=${passes}${itself ? '&idle=1' : ''}`, {signal});
      if (itself && answer.status !== 200) {
        tries += 1;
        return rest(grid);
      }
      if (!answer.ok) {
        problem = await answer.text();
        return changed();
      }
      const map = new Float32Array(await answer.arrayBuffer());
      const parts = Math.sqrt(passes);
      const {rows, cols, high, wide} = grid;
      blending.from([view]);
      fine = {
        passes,
        map,
        peak: map.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
        grid: {rows: rows * parts, cols: cols * parts, high: high / parts, wide: wide / parts},
      };
      if (!itself || performance.now() - since < QUICK) next(grid, signal, itself);
    } catch {
      if (signal.aborted) return;
      if (!itself) problem = '';
    }
    changed();
  }

  /** Waits until an untouched first picture has been on the screen for a while; called after each painting. */
  function rest(grid) {
    if (!untouched || fine || tries === TRIES) return;
    clearTimeout(timer);
    request.abort();
    request = new AbortController();
    timer = setTimeout(next, UNTOUCHED * 2 ** tries, grid, request.signal, true);
  }

  /** Ends what was begun without a person: the plain map is there again. */
  function wake() {
    if (!untouched) return;
    untouched = false;
    clearTimeout(timer);
    request.abort();
    request = new AbortController();
    blending.end();
    fine = null;
    changed();
  }

  return {
    follow,
    rest,
    wake,
    /** Sharpened map of the selection; null where there is none yet. */
    fine: () => fine,
    /** Number of passes on the screen, of all that were chosen or came by themselves, and why there are no more. */
    told: () => ({done: fine?.passes ?? 1, of: Math.max(goal, fine?.passes ?? 1), problem}),
  };
}
