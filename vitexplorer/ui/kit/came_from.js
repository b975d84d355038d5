// A notice over the rooms for who came from another one with an image of its own: what it is, and the way back.

import {make} from './dom.js';
import {addNotice} from './notices.js';

/**
 * @param {string} label what the image is and what the model said
 * @param {Record<string, string>} words of the page: `board_back` and `board_close`
 * @param {string} room from which
 */
export function cameFrom(label, words, room) {
  document.querySelector('.vx-came-from')?.remove();
  const note = make('div', {className: 'vx-came-from vx-notice', attributes: {role: 'status'}},
    make('p', {textContent: label}),
    make('button', {type: 'button', className: 'back', textContent: words.board_back, onclick: back}),
    make('button', {type: 'button', className: 'close', textContent: '×', title: words.board_close, ariaLabel: words.board_close, onclick: leave}));
  let arrived = false;

  function leave() {
    note.remove();
    document.removeEventListener('vx-ready', ready);
  }

  function back() {
    leave();
    document.dispatchEvent(new CustomEvent('vx-room', {detail: {room}}));
  }

  /** The first time is the arrival; after it another picture stands there, of which the note does not speak. */
  function ready() {
    if (arrived) leave();
    arrived = true;
  }

  document.addEventListener('vx-ready', ready);
  addNotice(note);
}
