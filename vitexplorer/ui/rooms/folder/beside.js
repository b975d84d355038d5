// Comparison of two surveys of the same images: images that only one predicts correctly, and heads that differ.

import {filled, make, refill} from '../../kit/dom.js';
import {heads} from './charts.js';
import {short} from './scales.js';
import {titled} from './titled.js';

/**
 * @param {HTMLElement} host
 * @param {any} answer
 * @param {Record<string, string>} words
 * @param {import('./plot.js').Ink} ink
 * @param {(order: string) => void} sort sorts the images by their change
 */
export function besideView(host, answer, words, ink, sort) {
  const sentences = answer.sentences.map((text) => make('p', text));
  const sides = answer.sides.map(({order, title, count}) =>
    make('button', {disabled: !count, dataset: {order}, onclick: () => sort(order)}, title),
  );
  const parts = [...sentences, make('p.row', ...sides)];
  if (answer.heads) {
    const {title, difference, low, high} = answer.heads;
    const width = Math.max(280, host.clientWidth - 12);
    const made = heads(
      {values: difference, title: words.beside_more},
      {width, height: Math.min(340, 110 + 26 * difference.length)},
      ink,
      words,
      true,
    );
    for (const cell of made.cells) {
      const {block, head} = cell.dataset;
      titled(
        cell,
        filled(words.beside_moved, {
          block,
          head,
          difference: short(difference[block][head]),
          low: short(low[block][head]),
          high: short(high[block][head]),
        }),
      );
    }
    made.node.setAttribute('role', 'img');
    made.node.setAttribute('aria-label', filled(words.beside_heads, {title}));
    parts.push(make('h4', filled(words.beside_heads, {title})), made.node);
  } else parts.push(make('p', words.beside_no_heads));
  refill(host, ...parts);
}
