// A chip of the top bar: a button that says what is chosen, and the panel below it in which another is chosen.
//
// The panel is a popover of the browser's own: it closes by itself on Escape and on a click elsewhere, and nothing
// that scrolls or clips can hide it.

import {labelled} from '../kit/punctuation.js';

const MARGIN = 8;  // pixels between chip, panel and the window's edges

/** @param {HTMLElement} root holds `.chip` and `.sheet` */
export function chip(root) {
  const button = /** @type {HTMLButtonElement} */ (root.querySelector('.chip'));
  const sheet = /** @type {HTMLElement} */ (root.querySelector('.sheet'));
  sheet.id = `vx-sheet-${Math.random().toString(36).slice(2)}`;
  button.popoverTargetElement = sheet;
  button.setAttribute('aria-haspopup', 'dialog');
  button.setAttribute('aria-expanded', 'false');

  function place() {
    const {left, bottom} = button.getBoundingClientRect(), most = innerWidth - sheet.offsetWidth - MARGIN;
    sheet.style.left = `${Math.max(MARGIN, Math.min(left, most))}px`;
    sheet.style.top = `${bottom + MARGIN}px`;
    sheet.style.maxHeight = `${innerHeight - bottom - 2 * MARGIN}px`;
  }

  sheet.addEventListener('toggle', (/** @type {ToggleEvent} */ event) => {
    const open = event.newState === 'open';
    button.setAttribute('aria-expanded', String(open));
    if (open) place();
  });
  addEventListener('resize', () => { if (sheet.matches(':popover-open')) place(); });
  return {
    button,
    sheet,
    close: () => sheet.hidePopover(),
    /**
     * What the chip is of, for those who do not see where it stands; what is chosen; a word on it.
     *
     * @param {string} what
     * @param {string} title
     * @param {string} note
     */
    say(what, title, note) {
      button.querySelector('.unseen').textContent = what && labelled(what, '');
      sheet.setAttribute('aria-label', what || title);
      button.querySelector('b').textContent = title;
      button.querySelector('small').textContent = note;
    },
    /** @param {() => void} callback */
    onOpen(callback) {
      sheet.addEventListener('toggle', (/** @type {ToggleEvent} */ event) => { if (event.newState === 'open') callback(); });
    },
  };
}
