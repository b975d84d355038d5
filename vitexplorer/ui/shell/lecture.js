// Lecture mode, `?lecture=1`: the picture fills the hall, and its keys reach it wherever the focus is. Controls hide
// while nobody moves the mouse, uses them, or reaches one by Tab.

import {make, visible} from '../kit/dom.js';

const REST = 2500; // milliseconds without a movement until the controls hide
const KEYS_TIME = 8000; // milliseconds that the list of keys stays
const CONTROLS = ':is(#vx-bar, #vx-rooms :is(.side, .below, .head))';
const IN_USE = `${CONTROLS}:hover, ${CONTROLS} :focus-visible, :popover-open, dialog[open]`;

const page = () => document.documentElement.classList;

/** True if the page has the layout for a hall: a class of the root element, which exists before the page does. */
export const inLecture = () => page().contains('vx-lecture');

/** @param {boolean} on */
export function lectureMode(on) {
  page().toggle('vx-lecture', on);
}

let resting = 0;

/** Shows the controls until nobody moves or uses them. */
function wake() {
  clearTimeout(resting);
  page().add('vx-awake');
  resting = setTimeout(rest, REST);
}

function rest() {
  if (document.querySelector(IN_USE)) wake();
  else page().remove('vx-awake');
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

/**
 * Listens as long as the page is open; does nothing outside lecture mode.
 *
 * @param {() => void} leave called when Escape ends the mode
 */
export function listenInLectures(leave) {
  document.addEventListener('keydown', (event) => {
    if (!inLecture()) return;
    if (event.key === 'Escape' && !document.querySelector(':popover-open, dialog[open]')) return leave();
    if (event.defaultPrevented || !isFree(event)) return; // the strip of blocks moves by arrow keys itself
    const room =
      /^[0-9]$/.test(event.key) && document.querySelectorAll('.vx-rail [data-room]')[(Number(event.key) + 9) % 10];
    if (room) /** @type {HTMLElement} */ (room).click();
    else forwardToPicture(event);
  });
  for (const name of ['pointermove', 'pointerdown'])
    addEventListener(name, () => inLecture() && wake(), {passive: true});
  addEventListener('focusin', ({target}) => {
    if (inLecture() && /** @type {HTMLElement} */ (target).matches(':focus-visible')) wake();
  });
}

/**
 * Shows the keys of the mode when it starts, until a key or the pointer is pressed or for a few seconds.
 *
 * @param {string} keys
 */
export function showKeys(keys) {
  const card = make('p.vx-keys', {attributes: {role: 'status'}}, keys);
  const drop = new AbortController();
  const remove = () => {
    card.remove();
    drop.abort();
  };
  document.querySelector('.vx-keys')?.remove();
  document.body.append(card);
  setTimeout(remove, KEYS_TIME);
  for (const name of ['keydown', 'pointerdown']) addEventListener(name, remove, {capture: true, signal: drop.signal});
}
