// Control for a query: a named token from a list, or, where there is a board, a patch that is picked on the picture and
// added to the list.

import {filled, make} from '../kit/dom.js';
import {pickingBoard} from './patch_board.js';

const isPatch = (value) => value.includes(',');

/** @type {import('./form.js').Draw} */
export function draw({name, label, value, board, words}, {settled, pending, image}) {
  const select = make('select', {name, onchange: settled});
  const picking = board && pickingBoard({board, image, label: words.pick, picked: go});
  let last = value;
  let wanted = '';
  let listed = '';

  function choose(chosen) {
    for (const option of [...select.options]) if (isPatch(option.value)) option.remove();
    if (isPatch(chosen)) {
      const [row, col] = chosen.split(',');
      select.append(new Option(filled(words.patch, {row, col}), chosen));
    }
    select.value = chosen;
    picking?.show(isPatch(chosen) ? chosen.split(',').map(Number) : null);
  }

  function go(at) {
    wanted = at.join();
    if (wanted === last && select.value === wanted) return;
    choose(wanted);
    if (pending()) return;
    last = wanted;
    settled();
  }

  // Moves the mark to the answered patch; if the mouse has moved on meanwhile, asks for the newer patch.
  function answer({options, value: answered}) {
    if (wanted && wanted !== last && select.value === wanted) {
      last = wanted;
      settled();
      return;
    }
    last = answered;
    const named = options.filter((option) => !isPatch(option.value));
    const now = JSON.stringify(named);
    if (now !== listed) select.replaceChildren(...named.map((option) => new Option(option.label, option.value)));
    listed = now;
    choose(answered);
  }

  return {element: make('label', make('span', label), select, picking?.box), value: () => select.value, answer};
}
