// Chip of the top bar: a button that shows the current choice, and a sheet below it that offers others.
//
// The sheet is a native popover: it closes on Escape and on a click elsewhere, and no scrolling or clipping element can
// hide it.

import {make} from '../../kit/dom.js';
import {labelled} from '../../kit/formats.js';

const MARGIN = 8; // pixels between chip, sheet and the window's edges

/** @param {HTMLElement} root element with `.chip` and `.sheet` */
export function chip(root) {
  const button = /** @type {HTMLButtonElement} */ (root.querySelector('.chip'));
  const sheet = /** @type {HTMLElement} */ (root.querySelector('.sheet'));
  sheet.id = `vx-sheet-${Math.random().toString(36).slice(2)}`;
  button.popoverTargetElement = sheet;
  button.setAttribute('aria-haspopup', 'dialog');
  button.setAttribute('aria-expanded', 'false');

  function place() {
    const {left, bottom} = button.getBoundingClientRect();
    const maxLeft = innerWidth - sheet.offsetWidth - MARGIN;
    sheet.style.left = `${Math.max(MARGIN, Math.min(left, maxLeft))}px`;
    sheet.style.top = `${bottom + MARGIN}px`;
    sheet.style.maxHeight = `${innerHeight - bottom - 2 * MARGIN}px`;
  }

  sheet.addEventListener('toggle', (/** @type {ToggleEvent} */ event) => {
    const open = event.newState === 'open';
    button.setAttribute('aria-expanded', String(open));
    if (open) place();
  });
  addEventListener('resize', () => {
    if (sheet.matches(':popover-open')) place();
  });
  return {
    button,
    sheet,
    close: () => sheet.hidePopover(),
    /**
     * Sets the texts of the chip.
     *
     * @param {string} label kind of choice, for screen readers
     * @param {string} title current choice
     * @param {string} note detail of the current choice
     */
    say(label, title, note) {
      button.querySelector('.unseen').textContent = label && labelled(label, '');
      sheet.setAttribute('aria-label', label || title);
      button.querySelector('b').textContent = title;
      button.querySelector('small').textContent = note;
    },
    /** @param {() => void} callback */
    onOpen(callback) {
      sheet.addEventListener('toggle', (/** @type {ToggleEvent} */ event) => {
        if (event.newState === 'open') callback();
      });
    },
  };
}

/**
 * Makes radio buttons side by side.
 *
 * @param {string} name
 * @param {{value: string, label: string}[]} choices
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
export const segments = (name, choices, chosen, choose) =>
  choices.map(({value, label}) =>
    make(
      'label',
      make('input', {type: 'radio', name, value, checked: value === chosen, onchange: () => choose(value)}),
      make('span', label),
    ),
  );
