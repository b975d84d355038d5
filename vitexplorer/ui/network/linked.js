// Pictures with one `link` follow one token: each finds its own patch at the place; a token that it lacks becomes the
// mean over its patches.

import {cellAt, gridOf, placeOf} from '../canvas/grids.js';
import {MEAN} from '../canvas/payload.js';

/**
 * @typedef {object} Followed
 * @property {string} token name of a token without a place; empty for a patch
 * @property {import('../canvas/grids.js').Place | null} at
 */

/** @type {Map<string, Followed>} token that stays followed, by the link, for a picture that comes later */
const kept = new Map();

/** First grid. */
function gridIn(grids, image) {
  const [rows, cols, cell] = grids[0];
  return gridOf({rows, cols, cell}, image, 'queries');
}

/**
 * @param {number} code patch of the first grid, prefix token or mean
 * @param {{prefix: string[], grids: number[][]}} value
 * @param {any} image
 * @returns {Followed}
 */
export function followedAt(code, {prefix, grids}, image) {
  return code < 0 ? {token: prefix[-1 - code] ?? '', at: null} : {token: '', at: placeOf(gridIn(grids, image), code)};
}

/**
 * @param {Followed} followed
 * @param {{prefix: string[], grids: number[][]}} value
 * @param {any} image
 */
export function codeAt({token, at}, {prefix, grids}, image) {
  if (at) return cellAt(gridIn(grids, image), at) ?? MEAN;
  return prefix.includes(token) ? -1 - prefix.indexOf(token) : MEAN;
}

/** Token that the pictures of a link follow; undefined before any of them has announced one. */
export const keptBy = (link) => kept.get(link);

/**
 * @param {HTMLElement} root of the announcing picture
 * @param {string} link empty for a picture on its own
 * @param {Followed | null} followed null where the pointer left the picture
 * @param {boolean} stays
 */
export function tellFollowed(root, link, followed, stays) {
  if (!link) return;
  if (stays && followed) kept.set(link, followed);
  document.dispatchEvent(new CustomEvent('vx-followed', {detail: {link, sender: root, followed, stays}}));
}

/**
 * Listens to the other pictures while this one is on the page.
 *
 * @param {HTMLElement} root
 * @param {() => string | undefined} link
 * @param {(followed: Followed | null, stays: boolean) => void} changed
 */
export function hearFollowed(root, link, changed) {
  document.addEventListener('vx-followed', function hear({detail}) {
    if (!root.isConnected) return document.removeEventListener('vx-followed', hear);
    if (detail.link === link() && detail.sender !== root) changed(detail.followed, detail.stays);
  });
}
