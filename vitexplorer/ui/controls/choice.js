// Control for one of a few options, as a drop-down list.

import {make} from '../kit/dom.js';

/** @type {import('./form.js').Draw} */
export function draw({name, label}, {settled}) {
  const input = make('select', {name, onchange: settled});
  let listed = '';

  function answer({options, value}) {
    const chosen = input.value;
    const isBusy = document.activeElement === input;
    const now = JSON.stringify(options);
    if (now !== listed) input.replaceChildren(...options.map((one) => new Option(one.label, one.value)));
    const stays = isBusy && options.some((one) => one.value === chosen);
    if (stays) input.value = chosen;
    else if (!isBusy || now !== listed) input.value = value;
    listed = now;
  }

  return {element: make('label', make('span', label), input), value: () => input.value, answer};
}
