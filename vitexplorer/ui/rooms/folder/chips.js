// Chips of the conditions of a choice; each can be removed.

import {filled, make, refill, setText} from '../../kit/dom.js';
import {labelled, spaced} from '../../kit/formats.js';
import {nameOf} from './looking.js';
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

  function inWords(condition, facts, words) {
    if (condition.kind === 'area') return labelled(words.chart_map, nameOf(condition.column, facts, words));
    const title = nameOf(condition.column, facts, words);
    if (condition.kind === 'within')
      return filled(words.where_within, {title, low: short(condition.low), high: short(condition.high)});
    return filled(words.where_equals, {
      title,
      value: facts.values[condition.column]?.[condition.value] ?? condition.value,
    });
  }

  return {
    /** @param {import('./conditions.js').Condition[]} where */
    show(where, facts, words) {
      refill(
        part('.chips'),
        ...where.map((condition) => {
          const what = inWords(condition, facts, words);
          const label = filled(words.where_remove, {what});
          return make(
            'button.chip-of',
            {title: label, ariaLabel: label, onclick: () => remove(condition)},
            what,
            make('span', '×'),
          );
        }),
      );
      setText(part('.clear'), words.where_clear);
      part('.clear').hidden = !where.length;
    },
    count(count, total, words) {
      setText(
        part('.count'),
        count === total
          ? labelled(words.where_all, spaced(total))
          : filled(words.where_count, {count: spaced(count), total: spaced(total)}),
      );
    },
  };
}
