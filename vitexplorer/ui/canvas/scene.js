// Computation of one frame: from the selection to the numbers that are painted.

import {SIGNED} from './colours.js';
import {fuseHeads, massMask} from './maps.js';
import {blockMaximum, emptyReading, readQuery} from './payload.js';
import {keyNow, queryNow, resting} from './selection.js';

/**
 * @typedef {object} View
 * @property {number} code the query
 * @property {number | null} key the key under the mouse
 * @property {import('./payload.js').Head} shown the map on the picture
 * @property {import('./payload.js').Head[]} heads the fused map and the map of every head
 * @property {import('./picture.js').Scene} scene
 * @property {(map: Float32Array) => Uint8Array | null} mask
 */

/** Returns the colour map; weights that may be negative have one of their own. */
export const colormapOf = (state, {payload}) => (payload.signed ? SIGNED : state.colormap);

/**
 * Returns a function that computes the frames of one block, always in the same memory.
 *
 * @param {import('./selection.js').Block} block
 * @returns {(state: import('./selection.js').State, sharp: import('./sharpening.js').Fine | null) => View} `sharp` is
 *   the sharpened map of the query to which the canvas returns
 */
export function newView(block) {
  const {payload, image, grids} = block;
  const scratch = emptyReading(payload);
  const fused = emptyReading(payload).heads[0];
  return (state, sharp) => {
    const code = queryNow(state, block);
    const key = keyNow(state, block);
    const reading = readQuery(payload, code, scratch);
    fuseHeads(reading, state.fusion, fused);
    const shown = typeof state.head === 'number' ? reading.heads[state.head] : fused;
    const mask = (map) => massMask(map, state.keep_mass);
    const frames = [
      ...(key === null ? [] : [{grid: grids.keys, cell: key, role: /** @type {const} */ ('key')}]),
      ...(code >= 0 ? [{grid: grids.queries, cell: code, role: /** @type {const} */ ('query')}] : []),
    ];
    const fine = sharp && code === resting(state, block) ? {...sharp, mask: mask(sharp.map)} : null;
    const {peak} = fine ?? shown;
    const scene = {
      image,
      grid: grids.keys,
      map: shown.map,
      mask: mask(shown.map),
      fine,
      window: fine ? null : reading.window,
      top: topOf(state.scale, peak, reading, payload),
      mode: state.mode,
      colormap: colormapOf(state, block),
      opacity: state.opacity,
      smooth: state.smooth,
      frames,
    };
    return {code, key, shown, heads: [fused, ...reading.heads], scene, mask};
  };
}

/** Upper end of the colour scale: the maximum of the map, of all heads for this query, or of the whole block. */
function topOf(scale, peak, reading, payload) {
  if (scale === 'block') return blockMaximum(payload);
  return scale === 'heads' ? Math.max(...reading.heads.map((head) => head.peak)) : peak;
}

/** Returns the numbers on the screen as plain arrays. */
export function readNumbers(query, head, {shown, scene}) {
  return {
    query,
    head: String(head),
    rows: scene.grid.rows,
    cols: scene.grid.cols,
    map: [...scene.map],
    prefix: [...shown.prefix],
    patches: shown.patches,
    padding: shown.padding,
    error: shown.error,
    top: scene.top,
    fine: scene.fine && [...scene.fine.map],
    mask: scene.mask && [...scene.mask],
    inside: scene.window && [...scene.window.inside],
  };
}
