// Form of controls. The module `<kind>.js` draws each kind.

import {draw as choice} from './choice.js';
import {draw as heads} from './heads.js';
import {draw as images} from './images.js';
import {draw as number} from './number.js';
import {draw as patch} from './patch.js';
import {draw as patches} from './patches.js';
import {draw as several} from './several.js';
import {draw as target} from './target.js';
import {draw as text} from './text.js';

/**
 * @typedef {object} Field one control, the same as Python's `Field`
 * @property {string} kind
 * @property {string} name
 * @property {string} label
 * @property {string} value its value as text
 * @property {{value: string, label: string}[]} options
 * @property {number | null} low
 * @property {number | null} high
 * @property {number | null} step
 * @property {import('../kit/grid.js').Board | null} board
 * @property {Record<string, string>} words
 * @property {Record<string, any>} more data of this kind alone
 * @property {Record<string, any>} state data of this kind that change with every answer
 */

/**
 * @typedef {object} Place context of a control
 * @property {() => void} settled sends a request to Python, because a person has set the control
 * @property {string} [image] address of the image that the model saw
 * @property {boolean} [typed] true if numbers are typed; otherwise they have sliders
 * @property {boolean} [live] true if a slider sends requests while it moves
 * @property {() => boolean} pending true while an answer is pending
 * @property {() => number} asked number of the latest request
 * @property {(name: string, disabled: boolean) => void} disable disables another control
 */

/**
 * @typedef {object} Drawn result of a kind's `draw`
 * @property {HTMLElement} element
 * @property {() => string} value its value as text
 * @property {(field: Field) => void} answer shows the value that an answer was computed with
 *
 * @typedef {(field: Field, place: Place) => Drawn} Draw draws the controls of one kind
 */

/** @type {Record<string, Draw>} */
const KINDS = {choice, heads, images, number, patch, patches, several, target, text};

/**
 * Makes a form of controls in an element.
 *
 * @param {Element} host
 * @param {{settled: (name: string) => void} & Partial<Pick<Place, 'typed' | 'live' | 'pending' | 'asked'>>} place
 */
export function form(host, {settled, pending = () => false, asked = () => 0, ...place}) {
  /** @type {Map<string, Drawn>} */
  const drawn = new Map();
  let last = '';

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
     * Shows the values that an answer was computed with. Controls with the same definition keep a person's unfinished
     * input; otherwise all are drawn again.
     *
     * @param {Field[]} fields
     * @param {{image?: string, of?: string}} [about] address of the image that the model saw; owner of the controls
     */
    show(fields, {image, of} = {}) {
      const now = JSON.stringify([of, image, fields.map(({value, options, state, ...fixed}) => fixed)]);
      if (now !== last) draw(fields, image);
      last = now;
      for (const field of fields) drawn.get(field.name).answer(field);
    },
    /** Draws all controls again at the next `show`. */
    forget() {
      last = '';
    },
    /** @returns {Record<string, string>} text of every setting by its name */
    settings: () => Object.fromEntries([...drawn].map(([name, {value}]) => [name, value()])),
  };
}
