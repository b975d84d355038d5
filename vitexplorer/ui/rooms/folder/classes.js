// Table of classes: share of correct images, and predictions of the others.

import {filled, make, refill} from '../../kit/dom.js';
import {percent, spaced} from '../../kit/formats.js';

/**
 * @param {HTMLElement} host
 * @param {any} answer
 * @param {Record<string, string>} words
 * @param {(label: string, predicted?: string) => void} choose
 */
export function classTable(host, {rows}, words, choose) {
  const heading = (text) => make('th', {scope: 'col', textContent: text});
  const taken = ({key}, one) =>
    make('button', {
      type: 'button',
      className: 'taken',
      textContent: `${one.name} ${spaced(one.count)}`,
      onclick: () => choose(key, one.key),
    });
  const row = (one) =>
    make(
      'tr',
      {},
      make(
        'th',
        {scope: 'row'},
        make('button', {
          type: 'button',
          className: 'class-name',
          textContent: one.name,
          onclick: () => choose(one.key),
        }),
      ),
      make('td', {textContent: spaced(one.count)}),
      make(
        'td',
        {className: 'share'},
        bar(one),
        make('span', {textContent: one.right === null ? '–' : percent(one.right)}),
        make('small', {
          textContent:
            one.right === null ? '' : filled(words.class_low_high, {low: percent(one.low), high: percent(one.high)}),
        }),
      ),
      make('td', {className: 'takens'}, ...one.taken.map((other) => taken(one, other))),
    );
  refill(
    host,
    make(
      'table',
      {className: 'class-table'},
      make(
        'thead',
        {},
        make('tr', {}, ...[words.class_name, words.class_count, words.class_right, words.class_taken].map(heading)),
      ),
      make('tbody', {}, ...rows.map(row)),
    ),
  );
}

function bar({right, low, high}) {
  const range =
    right === null
      ? []
      : [
          make('i', {className: 'range', style: {left: `${100 * low}%`, width: `${100 * (high - low)}%`}}),
          make('i', {className: 'at', style: {left: `${100 * right}%`}}),
        ];
  return make('span', {className: 'bar'}, ...range);
}
