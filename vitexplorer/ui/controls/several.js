// Control for any number of options, as checkboxes. They follow the drawn figure unless a person has ticked since.

import {make} from '../kit/dom.js';

/** @type {import('./form.js').Draw} */
export function draw({label}, {settled, pending}) {
  const boxes = new Map();
  const element = make('fieldset.vx-several', {onchange: settled}, make('legend', label));

  function list(options) {
    boxes.clear();
    for (const {value} of options) boxes.set(value, make('input', {type: 'checkbox', value}));
    element.replaceChildren(
      element.firstChild,
      ...options.map((one) => make('label', boxes.get(one.value), one.label)),
    );
  }

  return {
    element,
    value: () =>
      [...boxes.values()]
        .filter((box) => box.checked)
        .map((box) => box.value)
        .join() || ',', // a comma stands for none
    answer({options, value}) {
      if (boxes.size && pending()) return;
      if (options.map((one) => one.value).join() !== [...boxes.keys()].join()) list(options);
      const chosen = new Set(value.split(','));
      for (const [key, box] of boxes) box.checked = chosen.has(key);
    },
  };
}
