// The numbers of a figure as a table, read from its file.

import {filled, make, table} from '../kit/dom.js';
import {rowsOf} from './csv.js';

const MOST_ROWS = 300; // of the table; the file has them all

/** @param {any} value `PanelData` with a file of numbers */
export async function numbersOf({csv, question, words}) {
  const [head, ...rows] = rowsOf(await (await fetch(csv.url)).text());
  const left = filled(words.panel_rows, {shown: MOST_ROWS, all: rows.length});
  return [
    table(question, head, rows.slice(0, MOST_ROWS)),
    ...(rows.length > MOST_ROWS ? [make('p', {textContent: left})] : []),
  ];
}
