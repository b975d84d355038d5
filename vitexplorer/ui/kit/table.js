// Table of texts.

import {make} from './dom.js';

/**
 * @param {string} caption
 * @param {string[]} head headings of the columns
 * @param {string[][]} rows
 * @param {boolean} [named] true if the first cell of a row is its name
 */
export function table(caption, head, rows, named = false) {
  const heading = (text, scope) => make('th', {textContent: text, scope});
  const cell = (text) => make('td', {textContent: text});
  const line = (cells) =>
    make('tr', {}, ...cells.map((text, at) => (named && at === 0 ? heading(text, 'row') : cell(text))));
  return make(
    'table',
    {},
    make('caption', {textContent: caption}),
    make('thead', {}, make('tr', {}, ...head.map((text) => heading(text, 'col')))),
    make('tbody', {}, ...rows.map(line)),
  );
}
