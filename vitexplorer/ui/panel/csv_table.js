// The numbers of a figure as a table, read from its file.

import {filled, make, table} from '../kit/dom.js';
import {measured} from '../kit/formats.js';

const MOST_ROWS = 300; // of the table; the file has them all
const DECIMAL = /^-?\d+(\.\d+(e[-+]\d+)?|e[-+]\d+)$/; // as Python writes them; a hash has no sign

/** @param {any} value `PanelData` with a file of numbers */
export async function numbersOf({csv, question, words}) {
  const [head, ...rows] = rowsOf(await (await fetch(csv.url)).text());
  const left = filled(words.panel_rows, {shown: MOST_ROWS, all: rows.length});
  const shown = rows.slice(0, MOST_ROWS).map((row) => row.map(readable));
  return [table(question, head, shown), ...(rows.length > MOST_ROWS ? [make('p', left)] : [])];
}

/** Formats a decimal number to three significant digits; any other field stays. @param {string} field */
export const readable = (field) => (DECIMAL.test(field) ? measured(Number(field)) : field);

/**
 * @param {string} text
 * @returns {string[][]} rows of fields, the head first
 */
export function rowsOf(text) {
  const rows = [[]];
  for (const [, quoted, plain = '', end] of text
    .replace(/^\ufeff/, '')
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows[rows.length - 1].push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') break;
    if (end !== ',') rows.push([]);
  }
  return rows.filter((row) => row.length > 1 || row[0]);
}
