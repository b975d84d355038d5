// Notices over all rooms, in a band below the top bar. The page leaves space for the band, so that it covers nothing. A
// person can close a notice; it stays closed until its text changes.

import {setText} from './dom.js';

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
 * Adds a notice to the band; it stays until it is removed.
 *
 * @param {HTMLElement} element
 */
export function addNotice(element) {
  document.querySelector(BAND).append(element);
}
