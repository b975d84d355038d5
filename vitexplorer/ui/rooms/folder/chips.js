// Chips of the conditions of a choice; each can be removed.

import {filled, make, refill, setText} from '../../kit/dom.js';
import {spaced} from '../../kit/numbers.js';
import {labelled} from '../../kit/punctuation.js';
import {nameOf} from './names.js';
import {short} from './scales.js';

/**
 * @param {HTMLElement} root
 * @param {object} does
 * @param {(condition: import('./conditions.js').Condition) => void} does.remove
 * @param {() => void} does.clear
 */
export function chips(root, {remove, clear}) {
  const part = (selector) => root.querySelector(selector);
  part('.clear').addEventListener('click', clear);

  function inWords(one, facts, words) {
    if (one.kind === 'area') return labelled(words.chart_map, nameOf(one.column, facts, words));
    const title = nameOf(one.column, facts, words);
    if (one.kind === 'within') return filled(words.where_within, {title, low: short(one.low), high: short(one.high)});
    return filled(words.where_equals, {title, value: facts.values[one.column]?.[one.value] ?? one.value});
  }

  return {
    /** @param {import('./conditions.js').Condition[]} where */
    show(where, facts, words) {
      refill(part('.chips'), ...where.map((one) => {
        const what = inWords(one, facts, words), gone = filled(words.where_remove, {what});
        return make('button', {type: 'button', className: 'chip-of', title: gone, ariaLabel: gone, onclick: () => remove(one)}, what, make('span', {textContent: '×'}));
      }));
      setText(part('.clear'), words.where_clear);
      part('.clear').hidden = !where.length;
    },
    count(count, total, words) {
      setText(part('.count'), count === total ? labelled(words.where_all, spaced(total)) : filled(words.where_count, {count: spaced(count), total: spaced(total)}));
    },
  };
}
