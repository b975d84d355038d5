// Notice over the rooms after a room opened one of its own images in another room: a label, and a button back.

import {make} from './dom.js';
import {addNotice} from './notices.js';

/**
 * @param {string} label description of the image and the model's answer
 * @param {Record<string, string>} words words of the page: `board_back` and `board_close`
 * @param {string} room key of the room that the button leads back to
 */
export function cameFrom(label, words, room) {
  document.querySelector('.vx-came-from')?.remove();
  const note = make(
    'div',
    {className: 'vx-came-from vx-notice', attributes: {role: 'status'}},
    make('p', {textContent: label}),
    make('button', {type: 'button', className: 'back', textContent: words.board_back, onclick: back}),
    make('button', {
      type: 'button',
      className: 'close',
      textContent: '×',
      title: words.board_close,
      ariaLabel: words.board_close,
      onclick: leave,
    }),
  );
  let arrived = false;

  function leave() {
    note.remove();
    document.removeEventListener('vx-ready', ready);
  }

  function back() {
    leave();
    document.dispatchEvent(new CustomEvent('vx-room', {detail: {room}}));
  }

  /** The first capture is the image of the notice; the notice does not apply to later ones. */
  function ready() {
    if (arrived) leave();
    arrived = true;
  }

  document.addEventListener('vx-ready', ready);
  addNotice(note);
}
