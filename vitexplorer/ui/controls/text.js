// Control for a text.

import {make} from '../kit/dom.js';

/** @type {(field: import('../kit/form.js').Field, place: import('../kit/form.js').Place) => import('../kit/form.js').Drawn} */
export function draw({name, label, value, more}, {settled}) {
  const input = make('input', {type: 'text', name, value, inputMode: more.keyboard ?? '', onchange: settled});
  return {
    element: make('label', {}, make('span', {textContent: label}), input),
    value: () => input.value,
    answer(field) { if (document.activeElement !== input) input.value = field.value; },
  };
}
