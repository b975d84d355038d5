// The sequence of tokens, prefix tokens first and always visible where there is room. Only visible patches exist as
// elements, so that 4,096 of them cost as much as 49.

import {filled, make} from '../../kit/dom.js';
import {EDGE, firstPatch, inSight, patchOf, SIZE, scrollTo, TILE} from './geometry.js';

/**
 * @param {HTMLElement} root of the board
 * @param {import('./cut.js').Scene} scene
 */
export function sequence(root, scene) {
  const strip = /** @type {HTMLElement} */ (root.querySelector('.strip'));
  const tiles = /** @type {HTMLElement} */ (root.querySelector('.tiles'));
  const prefixes = root.querySelector('.prefixes');
  const sight = root.querySelector('.patches-in-sight');
  const prefix = () => scene.value.prefix_tokens.length;
  const count = () => scene.value.rows * scene.value.cols;

  function tile(index, face, options) {
    return make('div', options, face, make('span', index));
  }

  function prefixTile(name, index) {
    const title = filled(scene.value.words.prefix, {name});
    return tile(index, make('div', name), {className: 'tile prefix', title});
  }

  function patchTile(patch, marked) {
    const {rows, cols} = scene.value;
    const {row, col} = patchOf(scene.value, patch);
    const face = make('div', {
      style: {
        'background-image': `url("${scene.image.src}")`,
        'background-size': `${cols * SIZE}px ${rows * SIZE}px`,
        'background-position': `${-col * SIZE}px ${-row * SIZE}px`,
      },
    });
    const place = {left: `${firstPatch(prefix()) + patch * TILE}px`};
    return tile(prefix() + patch, face, {className: `tile${marked ? ' marked' : ''}`, dataset: {patch}, style: place});
  }

  /** Draws the whole strip after a change of its length or width. */
  function lay() {
    const first = firstPatch(prefix());
    tiles.style.width = `${first + count() * TILE + EDGE}px`;
    prefixes.replaceChildren(...scene.value.prefix_tokens.map(prefixTile));
    strip.classList.toggle('pinned', first < strip.clientWidth / 2);
  }

  /** @param {number} marked a patch, counted from 0 */
  function paint(marked) {
    if (!scene.image) return;
    const shown = inSight(strip.scrollLeft, strip.clientWidth, prefix(), count());
    sight.replaceChildren(...shown.map((patch) => patchTile(patch, patch === marked)));
  }

  /** @param {number} patch patch to centre */
  function centre(patch) {
    strip.scrollLeft = scrollTo(patch, strip.clientWidth, prefix(), strip.classList.contains('pinned'));
  }

  /** @param {Event} event @returns {import('./geometry.js').Patch | null} the patch under the pointer */
  function under({target}) {
    const tile = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest('[data-patch]'));
    return tile && patchOf(scene.value, Number(tile.dataset.patch));
  }

  return {strip, lay, paint, centre, under};
}
