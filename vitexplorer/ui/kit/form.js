// Controls of any kind in one form. Each kind is drawn by the module that is called like it, `controls/<kind>.js`.

import {draw as choice} from '../controls/choice.js';
import {draw as heads} from '../controls/heads.js';
import {draw as images} from '../controls/images.js';
import {draw as number} from '../controls/number.js';
import {draw as patch} from '../controls/patch.js';
import {draw as patches} from '../controls/patches.js';
import {draw as several} from '../controls/several.js';
import {draw as target} from '../controls/target.js';
import {draw as text} from '../controls/text.js';

/**
 * @typedef {object} Field one control, as Python's `Field` says
 * @property {string} kind
 * @property {string} name
 * @property {string} label
 * @property {string} value as written
 * @property {{value: string, label: string}[]} options
 * @property {number | null} low
 * @property {number | null} high
 * @property {number | null} step
 * @property {import('./grid.js').Board | null} board
 * @property {Record<string, string>} words
 * @property {Record<string, any>} more what only this kind needs
 * @property {Record<string, any>} state the same, new with every answer
 */

/**
 * @typedef {object} Place where a control stands
 * @property {() => void} settled a person has settled it: Python is asked
 * @property {string} [image] address of the picture that the model saw
 * @property {boolean} [typed] whether numbers are typed; they are slid otherwise
 * @property {boolean} [live] whether a number is settled while it is slid
 * @property {() => boolean} pending whether an answer is still to come
 * @property {() => number} asked number of the latest question
 * @property {(name: string, disabled: boolean) => void} disable takes another control its say
 */

/**
 * @typedef {object} Drawn what `draw` of a kind gives back
 * @property {HTMLElement} element
 * @property {() => string} value as written
 * @property {(field: Field) => void} answer an answer has come: show what it was made with
 */

/** @type {Record<string, (field: Field, place: Place) => Drawn>} */
const KINDS = {choice, heads, images, number, patch, patches, several, target, text};

/**
 * Controls in a part of the page.
 *
 * @param {Element} host
 * @param {{settled: (name: string) => void} & Partial<Pick<Place, 'typed' | 'live' | 'pending' | 'asked'>>} place
 */
export function form(host, {settled, pending = () => false, asked = () => 0, ...place}) {
  /** @type {Map<string, Drawn>} */
  const drawn = new Map();
  let shown = '';

  const disable = (name, disabled) => {
    for (const input of drawn.get(name)?.element.querySelectorAll('input, select') ?? []) input.disabled = disabled;
  };

  function draw(fields, image) {
    drawn.clear();
    for (const field of fields) {
      const here = {...place, settled: () => settled(field.name), pending, asked, image, disable};
      drawn.set(field.name, KINDS[field.kind](field, here));
    }
    host.replaceChildren(...[...drawn.values()].map(({element}) => element));
  }

  return {
    /**
     * Shows what an answer was made with. Controls that stay what they are keep what a person is doing with them;
     * others, or those of something else, are drawn anew.
     *
     * @param {Field[]} fields
     * @param {{image?: string, of?: string}} [about] address of the picture that the model saw; what they are of
     */
    show(fields, {image, of} = {}) {
      const now = JSON.stringify([of, image, fields.map(({value, options, state, ...fixed}) => fixed)]);
      if (now !== shown) draw(fields, image);
      shown = now;
      for (const field of fields) drawn.get(field.name).answer(field);
    },
    /** What is shown next is drawn anew. */
    forget() { shown = ''; },
    /** @returns {Record<string, string>} every setting by its name, as written */
    settings: () => Object.fromEntries([...drawn].map(([name, {value}]) => [name, value()])),
  };
}
