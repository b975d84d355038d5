// Any number of a few, as boxes to tick.

import {make} from '../kit/dom.js';

/** @type {(field: import('../kit/form.js').Field, place: import('../kit/form.js').Place) => import('../kit/form.js').Drawn} */
export function draw({label, options, value}, {settled}) {
  const chosen = new Set(value.split(','));
  const boxes = options.map((one) => make('input', {type: 'checkbox', value: one.value, checked: chosen.has(one.value)}));
  const element = make('fieldset', {onchange: settled}, make('legend', {textContent: label}),
    ...boxes.map((box, place) => make('label', {}, box, options[place].label)));
  return {
    element,
    value: () => boxes.filter((box) => box.checked).map((box) => box.value).join() || ',',  // none is an answer, too
    answer() {},  // what a person ticked stays
  };
}
