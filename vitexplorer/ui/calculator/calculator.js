// A table from data, under the number that its rows add up to.

import {make} from '../kit/dom.js';
import {percent, spaced} from '../kit/numbers.js';
import {change, columnsOf, pieces} from './terms.js';

const MARKS = {grew: '\u25b2', fell: '\u25bc'};

/** A formula as it is set in a book. */
function formula(text) {
  return make('span', {className: 'math'}, ...pieces(text).flatMap(({text: letters, leans, index}) => [
    leans === undefined ? letters : make(leans ? 'i' : 'span', {textContent: letters}),
    ...(index ? [make('sub', {textContent: index})] : []),
  ]));
}

function shareCell(share) {
  const bar = make('span', {className: 'bar', attributes: {'aria-hidden': 'true'}});
  if (share) bar.append(make('i', {style: {width: `${100 * Math.min(1, Math.abs(share))}%`}}));
  return make('td', {className: 'share'}, bar, make('span', {className: 'percent', textContent: percent(share)}));
}

/** What a slider moved: an arrow before the number. */
function mark(way, words) {
  const title = words[way];
  return make('span', {className: 'change', title, textContent: MARKS[way], attributes: {role: 'img', 'aria-label': title}});
}

function cell(column, row, way, words) {
  if (column === 'share') return shareCell(row.share);
  if (column === 'name') return make('th', {className: 'name', scope: 'row', textContent: row.name});
  if (column !== 'count') return make('td', {className: column}, formula(row[column]));
  const number = make('span', {className: 'math', textContent: spaced(row.count)});
  return make('td', {className: column}, ...(way ? [mark(way, words)] : []), number);
}

function totalCells(columns, {total, words}) {
  const count = make('span', {className: 'math', textContent: spaced(total)});
  const share = total ? [make('span', {className: 'percent', textContent: percent(1)})] : [];
  return [
    make('th', {className: 'name', scope: 'row', colSpan: columns.indexOf('count'), textContent: words.total}),
    make('td', {className: 'count'}, count), make('td', {className: 'share'}, ...share),
  ];
}

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, watch}) {
  const root = element.querySelector('.vx-count'), part = (selector) => root.querySelector(selector);
  let before = new Map(), title = null;  // counts under the same title in the last value, to mark what a slider moved

  function showHeadline({total, unit, compact}) {
    part('.exact').textContent = spaced(total);
    part('.unit').textContent = unit;
    part('.compact').textContent = compact === String(total) ? '' : `\u2248 ${compact}`;
  }

  function showTable(value) {
    const {rows, words} = value, columns = columnsOf(rows);
    const heading = (column) => make('th', {className: column, scope: 'col', textContent: value.columns[column]});
    const line = (row) => columns.map((column) => cell(column, row, change(before, row), words));
    root.toggleAttribute('data-formula', columns.length > 3);
    part('caption').textContent = value.title;
    part('.scroll').setAttribute('aria-label', value.title);
    part('thead tr').replaceChildren(...columns.map(heading));
    part('tbody').replaceChildren(...rows.map((row) => make('tr', {}, ...line(row))));
    part('tfoot tr').replaceChildren(...totalCells(columns, value));
  }

  function show() {
    const value = props.value;
    root.toggleAttribute('data-empty', !value);
    if (!value) return;
    root.toggleAttribute('data-bare', !value.rows.length);
    if (value.title !== title) before = new Map();
    title = value.title;
    showHeadline(value);
    showTable(value);
    part('.note').textContent = value.note;
    part('.note').hidden = !value.note;
    before = new Map(value.rows.map(({name, count}) => [name, count]));
  }

  watch('value', show);
  show();
}
