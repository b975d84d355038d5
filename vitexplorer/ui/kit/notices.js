// Notices: what is to be said whichever room is open. They stand in one band below the bar, for which the page leaves room,
// so that nothing lies under them; each is closed by its button and stays away until it has something else to say.

import {setText} from './dom.js';

const BAND = '.vx-notices';

/**
 * The page leaves as much room as the band takes.
 *
 * @param {HTMLElement} band
 */
export function leaveRoom(band) {
  new ResizeObserver(() => {
    document.documentElement.style.setProperty('--vx-note', `${band.getBoundingClientRect().height}px`);
  }).observe(band);
}

/**
 * A notice of the band that is written and closed.
 *
 * @param {HTMLElement} element with a paragraph and a button `.close`
 * @param {() => void} [closed] a person has closed it
 * @returns {(sentence: string) => void} says something, or nothing
 */
export function notice(element, closed = () => {}) {
  const says = element.querySelector('p');
  let gone = '';

  function say(sentence) {
    if (!sentence) gone = '';
    setText(says, sentence);
    element.hidden = !sentence || sentence === gone;
  }

  element.querySelector('.close').addEventListener('click', () => {
    gone = says.textContent;
    say(gone);
    closed();
  });
  return say;
}

/**
 * A notice that stands there until it is taken away.
 *
 * @param {HTMLElement} element
 */
export function addNotice(element) {
  document.querySelector(BAND).append(element);
}
