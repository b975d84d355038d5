// Control for a number between two bounds: a slider, or a number field in forms with typed numbers.

import {make} from '../kit/dom.js';

/** @type {import('./form.js').Draw} */
export function draw({name, label, value, low, high, step}, {settled, typed, live}) {
  const output = make('output');
  const input = make('input', {
    type: typed ? 'number' : 'range',
    name,
    min: low,
    max: high,
    step,
    value,
    [live ? 'oninput' : 'onchange']: settled,
  });
  input.addEventListener('input', () => {
    output.textContent = input.value;
  });
  return {
    element: make('label', make('span', label), input, ...(typed ? [] : [output])),
    value: () => input.value,
    answer(field) {
      if (document.activeElement === input) return;
      input.value = field.value;
      output.textContent = field.value; // the value may lie between two steps
    },
  };
}
