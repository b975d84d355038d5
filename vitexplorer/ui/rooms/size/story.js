// A model's size: two bars of the same parts, and a table of every way of counting them.

import {make} from '../../kit/dom.js';
import {percent, spaced} from '../../kit/formats.js';
import {formula, number} from './count_table.js';
import {change} from './formula_terms.js';

const MARKS = {grew: '\u25b2', fell: '\u25bc'};
/** Least share of a bar that leaves room for a part's name. */
const NAMED = 0.09;

/** Counted parameters where there is a module, otherwise those of the formula. */
const size = (row) => row.counted ?? row.exact;

function bar(label, rows, total, count) {
  const whole = count(total);
  const parts = rows.filter(count).map((row) => {
    const share = count(row) / whole;
    const said = `${row.name} ${percent(share)}`;
    return make(
      'span.part',
      {title: said, dataset: {part: row.key}, style: {'flex-grow': String(share)}},
      share > NAMED ? said : '',
    );
  });
  return make(
    'figure.bar',
    make('figcaption', make('span', label), make('strong', spaced(whole))),
    make('div.parts', {attributes: {'aria-hidden': 'true'}}, ...parts),
  );
}

/**
 * Draws two bars: parameters above, multiply-accumulates below.
 *
 * @param {any} value what Python sent, `SizeData`
 */
export function bars({rows, total, words}) {
  const countings = [
    [words.parameters, size],
    [words.cost, (row) => row.macs],
  ];
  return countings.filter(([, count]) => count(total)).map(([label, count]) => bar(label, rows, total, count));
}

/** Marks a changed number with an arrow. */
function mark(way, words) {
  const title = words[way];
  return make('span.change', {title, attributes: {role: 'img', 'aria-label': title}}, MARKS[way]);
}

const COLUMNS = ['counted', 'exact', 'rough', 'difference', 'macs'];

/** Line below a number: its share, or its formula. */
function small(column, row, total) {
  if (column === 'exact') return formula(row.symbols);
  if (column === 'rough') return formula(row.rough_symbols);
  const whole = column === 'difference' ? total.exact : total[column];
  return make('span', whole ? percent(row[column] / whole) : '');
}

function cells(row, total, columns, before, words) {
  return columns.map((column) => {
    if (row[column] === null) return make('td', {className: column});
    const way = column === 'exact' && row !== total ? change(before, row.key, row.exact) : null;
    const marks = way ? [mark(way, words)] : [];
    const below = make('div.small', {title: column === 'exact' ? row.symbols : ''}, small(column, row, total));
    return make('td', {className: column}, ...marks, number(row[column]), below);
  });
}

function line(row, total, columns, before, words) {
  const name = make('th.name', {scope: 'row', dataset: {part: row.key}}, row.name, make('div.small', row.hint));
  return make('tr', name, ...cells(row, total, columns, before, words));
}

/**
 * Draws the table: parts as rows, ways of counting as columns; a way without numbers has no column.
 *
 * @param {any} value what Python sent, `SizeData`
 * @param {Map<string, number>} before exact counts of the last design
 */
export function table({rows, total, words}, before) {
  const columns = COLUMNS.filter((column) => total[column] !== null);
  const head = [words.part, ...columns.map((column) => words[column])];
  const names = ['name', ...columns];
  return {
    head: make('tr', ...head.map((text, at) => make('th', {className: names[at], scope: 'col'}, text))),
    body: rows.map((row) => line(row, total, columns, before, words)),
    foot: line(total, total, columns, before, words),
  };
}
