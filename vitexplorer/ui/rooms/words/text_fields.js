// Fields of texts: each has the colour of its text, its cosine with the image, and its number at the pointed patch.

import {filled, make, setText, showSentence} from '../../kit/dom.js';
import {measured, percent} from '../../kit/formats.js';

/**
 * @typedef {object} Field
 * @property {HTMLLIElement} element
 * @property {HTMLInputElement} input
 * @property {HTMLButtonElement} pick
 * @property {HTMLElement} score
 * @property {HTMLElement} meter
 * @property {HTMLElement} number at the pointed patch
 * @property {HTMLElement} refused
 * @property {HTMLButtonElement} drop
 */

/**
 * @param {HTMLElement} list
 * @param {object} acts
 * @param {(at: number) => void} acts.apply a person pressed Enter in a field
 * @param {(at: number) => void} acts.choose
 * @param {(at: number) => void} acts.drop
 */
export function textFields(list, {apply, choose, drop}) {
  /** @type {Field[]} */
  let fields = [];

  const placeOf = (element) => fields.findIndex((field) => field.element === element);

  function newField(words, colour, isRead) {
    const parts = {
      input: make('input', {type: 'text', dir: 'auto', spellcheck: false, readOnly: !isRead}),
      pick: make('button.pick', {ariaPressed: 'false'}),
      drop: make('button.drop', '×'),
      score: make('span.score'),
      meter: make('i'),
      number: make('span.number'),
      refused: make('p.refused', {role: 'alert', hidden: true}),
    };
    const element = make(
      'li',
      {style: {'--ink': colour}},
      parts.pick,
      parts.input,
      parts.drop,
      make('div.facts-of-text', parts.score, make('span.meter', {ariaHidden: 'true'}, parts.meter), parts.number),
      parts.refused,
    );
    parts.input.placeholder = words.type;
    parts.input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.isComposing) apply(placeOf(element));
    });
    parts.pick.addEventListener('click', () => choose(placeOf(element)));
    parts.drop.addEventListener('click', () => drop(placeOf(element)));
    return {element, ...parts};
  }

  return {
    /** @returns {string[]} what stands in the fields */
    written: () => fields.map(({input}) => input.value),
    /** @returns {number} number of fields */
    count: () => fields.length,
    /** @returns {number} field that has the focus; -1 for none */
    focused: () => fields.findIndex(({input}) => input === document.activeElement),
    /** @param {number} at */
    focus(at) {
      fields[at]?.input.focus({preventScroll: true});
    },
    /**
     * Shows these texts in as many fields; the focus stays in its field.
     *
     * @param {string[]} texts
     * @param {{words: Record<string, string>, colours: string[], reads: boolean}} value
     */
    show(texts, {words, colours, reads}) {
      const isSame = fields.length === texts.length && fields.every(({input}) => input.readOnly === !reads);
      const at = this.focused();
      if (!isSame) {
        fields = texts.map((_, place) => newField(words, colours[place], reads));
        list.replaceChildren(...fields.map(({element}) => element));
      }
      fields.forEach(({input, pick, drop: away}, place) => {
        if (input.value !== texts[place]) input.value = texts[place];
        setText(pick, String(place + 1));
        const name = filled(words.pick, {number: place + 1, text: texts[place]});
        pick.ariaLabel = pick.title = name;
        input.ariaLabel = filled(words.text, {number: place + 1});
        away.ariaLabel = away.title = filled(words.drop, {number: place + 1});
        away.hidden = texts.length < 2;
      });
      if (!isSame && at >= 0) this.focus(Math.min(at, fields.length - 1));
    },
    /** @param {string} text @param {number} at */
    write(text, at) {
      fields[at].input.value = text;
    },
    /**
     * @param {Record<number, string>} reasons by field
     */
    refuse(reasons) {
      fields.forEach(({refused, input}, at) => {
        showSentence(refused, reasons[at] ?? '');
        input.setAttribute('aria-invalid', String(Boolean(reasons[at])));
      });
    },
    /**
     * @param {number | null} chosen text whose map is on the screen; null for all texts
     */
    mark(chosen) {
      fields.forEach(({pick}, at) => {
        pick.ariaPressed = String(at === chosen);
      });
    },
    /**
     * @param {{cosines: number[], shares: (number | null)[], words: Record<string, string>}} value
     */
    score({cosines, shares, words}) {
      fields.forEach(({score, pick}, at) => {
        const isKnown = cosines[at] !== undefined;
        const share = shares[at] ?? null;
        const numbers = isKnown ? {cosine: measured(cosines[at]), share: share === null ? '' : percent(share)} : null;
        setText(score, numbers ? filled(share === null ? words.cosine : words.cosine_share, numbers) : '');
        pick.disabled = !isKnown;
      });
    },
    /**
     * Shows the numbers of a patch as bars over a range.
     *
     * @param {number[] | null} numbers null for no patch
     * @param {{low: number, high: number}} range
     */
    meter(numbers, {low, high}) {
      fields.forEach(({meter, number}, at) => {
        const value = numbers?.[at];
        const share = value === undefined || high <= low ? 0 : (value - low) / (high - low);
        meter.style.setProperty('width', `${(100 * share).toFixed(2)}%`);
        setText(number, value === undefined ? '' : measured(value));
      });
    },
  };
}
