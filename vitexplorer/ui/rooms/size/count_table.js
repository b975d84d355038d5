// A table of counts with its title, its total and a sentence below it.

import {make} from '../../kit/dom.js';
import {percent, spaced} from '../../kit/formats.js';
import {columnsOf, pieces} from './formula_terms.js';

/** Typesets a formula. */
export function formula(text) {
  return make(
    'span.math',
    ...pieces(text).flatMap(({text: letters, leans, index}) => [
      leans === undefined ? letters : make(leans ? 'i' : 'span', letters),
      ...(index ? [make('sub', index)] : []),
    ]),
  );
}

/** Formats a count for its column. */
export const number = (count) => make('span', spaced(count));

function shareCell(share) {
  const bar = make('span.bar', {attributes: {'aria-hidden': 'true'}});
  if (share) bar.append(make('i', {style: {width: `${100 * Math.min(1, Math.abs(share))}%`}}));
  return make('td.share', bar, make('span.percent', percent(share)));
}

function cell(column, row) {
  if (column === 'share') return shareCell(row.share);
  if (column === 'name') return make('th.name', {scope: 'row'}, row.name);
  if (column === 'count') return make('td', {className: column}, number(row.count));
  if (column === 'beside') return make('td', {className: column}, row.beside);
  return make('td', {className: column}, formula(row[column]));
}

function totalRow(columns, {total}, words) {
  const share = total ? [make('span.percent', percent(1))] : [];
  return make(
    'tr',
    make('th.name', {scope: 'row', colSpan: columns.indexOf('count')}, words.total),
    make('td.count', number(total)),
    make('td.share', ...share),
  );
}

/** Total in words: 2,850,058 parameters ≈ 2.9 M. */
function headline({total, unit, compact}) {
  if (total === null) return '';
  return `: ${spaced(total)} ${unit}${compact === String(total) ? '' : ` \u2248 ${compact}`}`;
}

/**
 * @param {any} table `CountTableData`
 * @param {Record<string, string>} words
 */
export function countTable(table, words) {
  const columns = columnsOf(table.rows);
  const heading = (column) => make('th', {className: column, scope: 'col'}, table.columns[column]);
  const box = make(
    'div.scroll',
    {tabIndex: 0, attributes: {role: 'group', 'aria-label': table.title}},
    make(
      'table.counts',
      make('caption', `${table.title}${headline(table)}`),
      make('thead', make('tr', ...columns.map(heading))),
      make('tbody', ...table.rows.map((row) => make('tr', ...columns.map((column) => cell(column, row))))),
      make('tfoot', ...(table.total === null ? [] : [totalRow(columns, table, words)])),
    ),
  );
  return [box, ...(table.note ? [make('p.note', table.note)] : [])];
}
