// Controls of any kind in one form. Each kind is drawn by the module that is called like it, `controls/<kind>.js`, which
// is fetched when a control of that kind is there for the first time.

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
 * @property {() => void} settled a person has settled something: Python is asked
 * @property {string} [image] address of the picture that the model saw
 * @property {boolean} [typed] whether numbers are typed; they are slid otherwise
 * @property {() => boolean} [pending] whether an answer is still to come
 * @property {() => number} [asked] number of the latest question
 * @property {(name: string, disabled: boolean) => void} [disable] takes another control its say
 */

/**
 * @typedef {object} Drawn what `draw` of a kind gives back
 * @property {HTMLElement} element
 * @property {() => string} value as written
 * @property {(field: Field) => void} answer an answer has come: show what it was made with
 */

/** @type {Map<string, {draw: (field: Field, place: Place) => Drawn}>} */
const kinds = new Map();

/**
 * The modules of all kinds among some controls. Whoever draws calls this first, and again once it is done.
 *
 * @param {Field[]} fields
 * @returns {Promise<void> | null} null where all are there already
 */
export function missing(fields) {
  const wanted = [...new Set(fields.map(({kind}) => kind))].filter((kind) => !kinds.has(kind));
  if (!wanted.length) return null;
  const load = async (kind) => { kinds.set(kind, await import(`../controls/${kind}.js`)); };
  return Promise.all(wanted.map(load)).then(() => undefined);
}

/**
 * What makes a control another one that is drawn anew: all of it but what changes from answer to answer.
 *
 * @param {Field[]} fields
 * @returns {string}
 */
export function shape(fields) {
  return JSON.stringify(fields.map(({value, options, state, ...fixed}) => fixed));
}

/**
 * Draws controls whose modules are there, see `missing`.
 *
 * @param {Field[]} fields
 * @param {Place} place
 */
export function form(fields, place) {
  const disable = (name, disabled) => {
    for (const input of drawn.get(name)?.element.querySelectorAll('input, select') ?? []) input.disabled = disabled;
  };
  /** @type {Map<string, Drawn>} */
  const drawn = new Map();
  for (const field of fields) drawn.set(field.name, kinds.get(field.kind).draw(field, {...place, disable}));
  const answer = (answered) => {
    for (const field of answered) drawn.get(field.name).answer(field);
  };
  answer(fields);
  return {
    elements: [...drawn.values()].map(({element}) => element),
    /** @returns {Record<string, string>} every setting by its name, as written */
    settings: () => Object.fromEntries([...drawn].map(([name, {value}]) => [name, value()])),
    /** @param {Field[]} answered the same controls with what the answer was made with */
    answer,
  };
}
