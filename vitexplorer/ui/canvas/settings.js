// Settings that Python answers, drawn by the form of the kit.

import {form, missing, shape} from '../kit/form.js';

/**
 * @param {HTMLElement} card
 * @param {() => void} settled a person has settled one
 */
export function newSettings(card, settled) {
  let drawn = null, drawnShape = '', latest = [];

  function show(fields) {
    latest = fields;
    card.hidden = !fields.length;
    if (card.hidden) return;
    const kinds = missing(fields);
    if (kinds) {
      kinds.then(() => { if (latest === fields) show(fields); });
      return;
    }
    if (shape(fields) === drawnShape) {
      drawn.answer(fields);
      return;
    }
    drawnShape = shape(fields);
    drawn = form(fields, {settled});
    card.querySelector('.fields').replaceChildren(...drawn.elements);
  }

  return {
    show,
    /** @returns {Record<string, string> | null} as written; null where there are none */
    values: () => (latest.length ? drawn?.settings() ?? Object.fromEntries(latest.map(({name, value}) => [name, value])) : null),
  };
}
