// What a person takes home of a figure: pictures, numbers, the lines of Python, what the caption says. Folded away until
// it is wanted. The numbers are a table too, for those who do not see the picture.

import {rowsOf} from '../kit/csv.js';
import {filled, make, refill, setText} from '../kit/dom.js';

/** @type {[string, string, number][]} */
const PICTURES = [['PNG 2×', 'png', 2], ['PNG 4×', 'png', 4], ['SVG', 'svg', 1]];
const MOST_ROWS = 300;  // of the table; the file has them all

/**
 * @param {HTMLElement} card a <details>
 * @param {(format: string, factor: number, name: string) => void} save
 */
export function taking(card, save) {
  const part = (selector) => card.querySelector(selector), numbers = part('.numbers');
  let shown = null;

  function buttons({figure, csv}) {
    const button = (textContent, onclick) => make('button', {type: 'button', textContent, onclick});
    if (!figure) return [];
    const name = csv.orig_name.replace(/\.csv$/, '');  // which says view, model and run
    return [
      ...PICTURES.map(([label, format, factor]) => button(label, () => save(format, factor, name))),
      button('CSV', () => make('a', {href: csv.url, download: csv.orig_name}).click()),
    ];
  }

  async function showTable() {
    const {csv, question, words} = shown;
    if (!numbers.open || numbers.dataset.of === csv.url) return;
    numbers.dataset.of = csv.url;
    const [head, ...rows] = rowsOf(await (await fetch(csv.url)).text());
    if (numbers.dataset.of !== csv.url) return;
    const line = (tag, fields) => make('tr', {}, ...fields.map((textContent) => make(tag, {textContent, ...(tag === 'th' ? {scope: 'col'} : {})})));
    part('.table').replaceChildren(
      make('table', {}, make('caption', {textContent: question}), make('thead', {}, line('th', head)),
        make('tbody', {}, ...rows.slice(0, MOST_ROWS).map((fields) => line('td', fields)))),
      ...(rows.length > MOST_ROWS ? [make('p', {textContent: filled(words.panel_rows, {shown: MOST_ROWS, all: rows.length})})] : []),
    );
  }

  numbers.addEventListener('toggle', showTable);
  return {
    show(value) {
      shown = value;
      card.hidden = !value.figure && !value.python;
      setText(part('summary'), value.words.panel_take);
      refill(part('.save'), ...buttons(value));
      part('.save').setAttribute('aria-label', value.words.save ?? '');
      setText(part('.python'), value.python);
      part('.facts').replaceChildren(...(value.facts ?? []).flatMap(({label, value: said}) => [
        make('dt', {textContent: label}), make('dd', {textContent: said}),
      ]));
      setText(part('.numbers summary'), value.words.panel_table);
      numbers.hidden = !value.csv;
      if (value.csv) showTable();
    },
  };
}
