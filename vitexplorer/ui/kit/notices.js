// Notices over all rooms, in a band below the top bar. The page leaves space for the band, so that it covers nothing. A
// person can close a notice; it stays closed until its text changes.

import {make, setText} from './dom.js';

const BAND = '.vx-notices';

/**
 * Reserves space in the page for the band.
 *
 * @param {HTMLElement} band
 */
export function leaveRoom(band) {
  new ResizeObserver(() => {
    document.documentElement.style.setProperty('--vx-note', `${band.getBoundingClientRect().height}px`);
  }).observe(band);
}

/**
 * Returns a function that sets the text of a notice; an empty text hides it.
 *
 * @param {HTMLElement} element element with a paragraph and a button `.close`
 * @param {() => void} [closed] called when a person closes it
 * @returns {(sentence: string) => void}
 */
export function notice(element, closed = () => {}) {
  const paragraph = element.querySelector('p');
  let dismissed = '';

  function say(sentence) {
    if (!sentence) dismissed = '';
    setText(paragraph, sentence);
    element.hidden = !sentence || sentence === dismissed;
  }

  element.querySelector('.close').addEventListener('click', () => {
    dismissed = paragraph.textContent;
    say(dismissed);
    closed();
  });
  return say;
}

/**
 * Shows after a part of the page opened another image, model or room: a label, and a button back.
 *
 * @param {string} label description of what was opened
 * @param {Record<string, string>} words words of the page: `board_back` and `board_close`
 * @param {() => void} goBack called when a person presses the button back
 */
export function cameFrom(label, words, goBack) {
  document.querySelector('.vx-came-from')?.remove();
  const note = make(
    'div.vx-came-from.vx-notice',
    {attributes: {role: 'status'}},
    make('p', label),
    make('button.back', {onclick: back}, words.board_back),
    make('button.close', {title: words.board_close, ariaLabel: words.board_close, onclick: leave}, '×'),
  );
  let arrived = false;

  function leave() {
    note.remove();
    document.removeEventListener('vx-ready', ready);
  }

  function back() {
    leave();
    goBack();
  }

  /** The first capture is the image of the notice; the notice does not apply to later ones. */
  function ready() {
    if (arrived) leave();
    arrived = true;
  }

  document.addEventListener('vx-ready', ready);
  document.querySelector(BAND).append(note);
}
