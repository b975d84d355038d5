// Keys for somebody who stands: in lecture mode they reach the picture wherever the focus is, and digits lead to rooms.

/** The page is laid out for a hall: a class of the root, so that it is there before the page is. */
export const inLecture = () => document.documentElement.classList.contains('vx-lecture');

/** @param {boolean} on */
export function lectureMode(on) {
  document.documentElement.classList.toggle('vx-lecture', on);
}

/** @param {KeyboardEvent} event */
const isFree = ({target, altKey, ctrlKey, metaKey}) => !altKey && !ctrlKey && !metaKey
  && (target === document.body || (target instanceof HTMLButtonElement && !target.closest('[popover]')));

/** Keys that a button of its own has a use for. */
const OF_BUTTONS = new Set(['Enter', ' ', 'Tab', 'Escape']);

/** @param {KeyboardEvent} event */
function toThePicture(event) {
  const view = [...document.querySelectorAll('.vx-canvas .view')].find((one) => one.checkVisibility());
  if (!view || OF_BUTTONS.has(event.key)) return;
  const {key, code, shiftKey} = event;
  const same = new KeyboardEvent('keydown', {key, code, shiftKey, bubbles: false, cancelable: true});
  if (!view.dispatchEvent(same)) event.preventDefault();
}

/** Listens for as long as the page is open; outside lecture mode it leaves everything alone. */
export function listenInLectures() {
  document.addEventListener('keydown', (event) => {
    if (!inLecture() || !isFree(event)) return;
    const room = /^[0-9]$/.test(event.key) && document.querySelectorAll('.vx-rail [data-room]')[(Number(event.key) + 9) % 10];
    if (room) /** @type {HTMLElement} */ (room).click();
    else toThePicture(event);
  });
}
