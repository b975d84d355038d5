// Keys of lecture mode: they reach the picture wherever the focus is, and digits open rooms.

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
  const view = [...document.querySelectorAll('.vx-canvas .view')].find((node) => node.checkVisibility());
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
