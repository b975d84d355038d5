// Canvases with the same link share head and hovered or pinned place through `vx-link` events on the document. Each
// finds its own patch at the place; a token that it lacks becomes the mean over patches.

import {cellAt, placeOf} from './grids.js';
import {MEAN} from './payload.js';
import {queryCode, queryText} from './queries.js';
import {settle} from './selection.js';

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
