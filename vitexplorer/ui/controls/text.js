// Control for a text.

import {make} from '../kit/dom.js';

/** @type {import('./form.js').Draw} */
export function draw({name, label, value, more}, {settled}) {
  const input = make('input', {type: 'text', name, value, inputMode: more.keyboard ?? '', onchange: settled});
  return {
    element: make('label', make('span', label), input),
    value: () => input.value,
    answer(field) {
      if (document.activeElement !== input) input.value = field.value;
    },
  };
}
