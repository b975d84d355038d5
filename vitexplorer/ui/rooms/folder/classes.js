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
  const heading = (text) => make('th', {scope: 'col'}, text);
  const taken = ({key}, one) =>
    make('button.taken', {onclick: () => choose(key, one.key)}, `${one.name} ${spaced(one.count)}`);
  const row = (one) =>
    make(
      'tr',
      make('th', {scope: 'row'}, make('button.class-name', {onclick: () => choose(one.key)}, one.name)),
      make('td', spaced(one.count)),
      make(
        'td.share',
        bar(one),
        make('span', one.right === null ? '–' : percent(one.right)),
        make(
          'small',
          one.right === null ? '' : filled(words.class_low_high, {low: percent(one.low), high: percent(one.high)}),
        ),
      ),
      make('td.takens', ...one.taken.map((other) => taken(one, other))),
    );
  refill(
    host,
    make(
      'table.class-table',
      make(
        'thead',
        make('tr', ...[words.class_name, words.class_count, words.class_right, words.class_taken].map(heading)),
      ),
      make('tbody', ...rows.map(row)),
    ),
  );
}

function bar({right, low, high}) {
  const range =
    right === null
      ? []
      : [
          make('i.range', {style: {left: `${100 * low}%`, width: `${100 * (high - low)}%`}}),
          make('i.at', {style: {left: `${100 * right}%`}}),
        ];
  return make('span.bar', ...range);
}
