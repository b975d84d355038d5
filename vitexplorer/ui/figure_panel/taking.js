// What a person takes home of a figure: pictures, numbers, the lines of Python. Folded away until it is wanted.

import {make, setText} from '../kit/dom.js';

/** @type {[string, string, number][]} */
const PICTURES = [['PNG 2×', 'png', 2], ['PNG 4×', 'png', 4], ['SVG', 'svg', 1]];

/**
 * @param {HTMLElement} card a <details>
 * @param {(format: string, factor: number, name: string) => void} save
 */
export function taking(card, save) {
  const part = (selector) => card.querySelector(selector);

  function buttons({figure, csv}) {
    const button = (textContent, onclick) => make('button', {type: 'button', textContent, onclick});
    if (!figure) return [];
    const name = csv.orig_name.replace(/\.csv$/, '');  // which says view, model and run
    return [
      ...PICTURES.map(([label, format, factor]) => button(label, () => save(format, factor, name))),
      button('CSV', () => make('a', {href: csv.url, download: csv.orig_name}).click()),
    ];
  }

  return {
    show(value) {
      card.hidden = !value.figure && !value.python;
      setText(part('summary'), value.words.panel_take);
      part('.save').replaceChildren(...buttons(value));
      part('.save').setAttribute('aria-label', value.words.save ?? '');
      setText(part('.python'), value.python);
      part('.facts').replaceChildren(...(value.facts ?? []).flatMap(({label, value: said}) => [
        make('dt', {textContent: label}), make('dd', {textContent: said}),
      ]));
    },
  };
}
