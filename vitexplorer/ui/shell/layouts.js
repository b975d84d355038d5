// Two other layouts of the page: embedded in another page, `?embed=1`, with one figure or one step of the path and a
// link to the whole page; and for a hall, `?lecture=1`, whose keys reach the picture wherever the focus is.

import {inAddress} from '../kit/address.js';
import {visible} from '../kit/dom.js';

/** True if the page has the layout for a frame: a class of the root element, which exists before the page does. */
export const isEmbedded = () => document.documentElement.classList.contains('vx-embedded');

export function embedIfAsked() {
  document.documentElement.classList.toggle('vx-embedded', inAddress('embed') === '1');
}

/**
 * Returns the address of the same picture in the whole page, or in the embedded one.
 *
 * @param {string} address
 * @param {boolean} embedded
 * @returns {string}
 */
export function addressFor(address, embedded) {
  const url = new URL(address);
  if (embedded) url.searchParams.set('embed', '1');
  else url.searchParams.delete('embed');
  return url.href;
}

/** Escapes a text for an HTML attribute. */
const escaped = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');

/**
 * Returns the HTML that embeds the picture in another page.
 *
 * @param {string} address current address of the page
 * @param {string} title title of the picture, for screen readers
 * @returns {string}
 */
export function frameCode(address, title) {
  const names = `src="${escaped(addressFor(address, true))}" title="${escaped(title)}"`;
  return `<iframe ${names} width="100%" height="480" style="border: 0" loading="lazy"></iframe>`;
}

/** True if the page has the layout for a hall: a class of the root element, which exists before the page does. */
export const inLecture = () => document.documentElement.classList.contains('vx-lecture');

/** @param {boolean} on */
export function lectureMode(on) {
  document.documentElement.classList.toggle('vx-lecture', on);
}

/** True if no control needs the key. @param {KeyboardEvent} event */
const isFree = ({target, altKey, ctrlKey, metaKey}) =>
  !altKey &&
  !ctrlKey &&
  !metaKey &&
  (target === document.body || (target instanceof HTMLButtonElement && !target.closest('[popover]')));

/** Keys that buttons use themselves. */
const BUTTON_KEYS = new Set(['Enter', ' ', 'Tab', 'Escape']);

/** @param {KeyboardEvent} event */
function forwardToPicture(event) {
  const view = visible('.vx-canvas .view');
  if (!view || BUTTON_KEYS.has(event.key)) return;
  const {key, code, shiftKey} = event;
  const copy = new KeyboardEvent('keydown', {key, code, shiftKey, bubbles: false, cancelable: true});
  if (!view.dispatchEvent(copy)) event.preventDefault();
}

/** Listens as long as the page is open; does nothing outside lecture mode. */
export function listenInLectures() {
  document.addEventListener('keydown', (event) => {
    if (!inLecture() || !isFree(event)) return;
    const room =
      /^[0-9]$/.test(event.key) && document.querySelectorAll('.vx-rail [data-room]')[(Number(event.key) + 9) % 10];
    if (room) /** @type {HTMLElement} */ (room).click();
    else forwardToPicture(event);
  });
}
