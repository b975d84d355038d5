// The shown map as a table, for whoever reads numbers rather than colours; made while it is open.

import {make} from '../kit/dom.js';
import {directionText} from './captions.js';
import {blockText, headText, percent, say} from './texts.js';

/**
 * @param {HTMLDetailsElement} details
 * @param {() => {block: import('./selection.js').Block, state: import('./selection.js').State, view: import('./scene.js').View} | null} shown
 */
export function newNumbers(details, shown) {
  const place = details.querySelector('.table');

  function write() {
    const now = details.open ? shown() : null;
    if (!now) return;
    const {block: {value}, block, state, view: {code, scene: {map, grid: {rows, cols}, window}}} = now;
    const head = (name, scope) => make('th', {textContent: name, scope});
    const cell = (i) => make('td', {textContent: window && !window.inside[i] ? '' : percent(map[i])});
    const title = [directionText(block, code), headText(value, state.head), blockText(value)].join(' · ');
    const line = (row) => make('tr', {}, head(String(row), 'row'), ...Array.from({length: cols}, (_, col) => cell(row * cols + col)));
    place.replaceChildren(make('table', {},
      make('caption', {textContent: title}),
      make('tr', {}, head(say(value.words, 'row_by_col'), 'col'), ...Array.from({length: cols}, (_, col) => head(String(col), 'col'))),
      ...Array.from({length: rows}, (_, row) => line(row))));
  }

  details.addEventListener('toggle', write);
  return write;
}
