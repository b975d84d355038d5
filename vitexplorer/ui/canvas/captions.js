// Sentences around the picture, from Python's texts: the map, the colour scale, the use of the mouse; and numbers.

import {filled} from '../kit/dom.js';
import {MEAN} from './payload.js';
import {isSilent} from './queries.js';
import {resting, wanted} from './selection.js';

export const directionText = ({value}, code) => say(value.words, 'direction', {query: tokenText(value, code)});

export function questionText({value}, code) {
  return value.run || say(value.words, code === MEAN ? 'question_mean' : 'question', {query: tokenText(value, code)});
}

const NEARLY_EVEN = 1.5; // times the share that each token would get
const NEARLY_ALL = 0.98; // share of the attention beside the patches

/** Name of the map, and its strongest key; or that the map is nearly even, or that nearly nothing is on it. */
export function readingText({value, grids, payload}, state, {shown, scene}) {
  const cell = strongestOf(shown);
  const seen = scene.window ? scene.window.inside.reduce((sum, one) => sum + one, 0) : shown.map.length;
  const even = 1 / (seen + payload.prefixKeys.filter(Boolean).length);
  const isMean = state.head !== 'max' && state.head !== 'min' && !payload.signed;
  const key =
    isMean && shown.patches < 1 - NEARLY_ALL
      ? 'reading_elsewhere'
      : isMean && shown.peak < NEARLY_EVEN * even
        ? 'reading_even'
        : 'reading';
  return say(value.words, key, {
    even: percent(even),
    rest: percent(1 - shown.patches),
    block: value.block,
    last: value.depth - 1,
    head: headText(value, state.head),
    key: tokenText(value, cell, grids.keys.cols),
    share: percent(shown.map[cell]),
  });
}

const strongestOf = ({map, peak}) => map.findIndex((share) => Math.abs(share) === peak);

/** Shares at the lower end, the middle and the upper end of the scale. */
export const ticksOf = ({payload}, top) =>
  (payload.signed ? [-top, 0, top] : [0, top / 2, top]).map((share) => percent(share));

/**
 * Name, place and share of the key under the mouse, otherwise of the strongest key.
 *
 * @returns {{what: string, where: string, share: string, cell: number}}
 */
export function readOut({value, grids}, {key, shown, scene}) {
  const cell = key ?? strongestOf(shown);
  const outside = scene.window && !scene.window.inside[cell];
  return {
    what: say(value.words, key === null ? 'strongest' : 'key'),
    where: tokenText(value, cell, grids.keys.cols),
    share: outside ? say(value.words, 'not_attended') : percent(shown.map[cell]),
    cell,
  };
}

/** Hint on the use of the mouse, or first the note that the requested token is no query in this block. */
export function hintText(block, state, touch) {
  const {value, payload} = block;
  const {words} = value;
  const query = tokenText(value, resting(state, block));
  if (isSilent(value, MEAN)) return say(words, 'hint_class', {query});
  const kind = payload.partial ? 'hint_partial' : state.pinned !== null ? 'hint_pinned' : 'hint';
  const usual = say(words, touch ? `${kind}_touch` : kind);
  if (!isSilent(value, wanted(state))) return usual;
  return `${say(words, 'hint_silent', {token: tokenText(value, wanted(state)), query})} ${usual}`;
}

/** Notes on the colour scale and on the numbers. */
export function notesText({value: {words}, payload}, state, {scene, shown}) {
  return [
    say(words, payload.signed ? `signed_${state.scale}_long` : `scale_${state.scale}_long`),
    scene.window && say(words, 'note_window'),
    state.keep_mass < 1 && say(words, 'note_keep', {share: percent(state.keep_mass, 2)}),
    state.smooth && say(words, 'note_smooth'),
    scene.fine && say(words, 'note_sharpen', {passes: scene.fine.passes}),
    say(words, 'note_precision', {error: percent(shown.error)}),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Fills in the {names} of a text; a missing text becomes its key, so that it is noticed. */
export function say(words, key, values = {}) {
  return filled(words[key] ?? key, values);
}

/**
 * Formats a share as a percentage with at most about three digits.
 *
 * @param {number} share
 * @param {number} [digits]
 * @returns {string}
 */
export function percent(share, digits = 3) {
  if (share < 0) return `\u2212${percent(-share, digits)}`;
  const value = 100 * share;
  const places = value >= 99.95 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  if (!(value > 0)) return '0\u202f%';
  if (value < 0.001) return '<\u202f0.001\u202f%';
  return `${value.toFixed(Math.max(0, places + digits - 3))}\u202f%`;
}

/** Name of a patch of a grid of `cols` columns, of a prefix token or of the mean. */
export function tokenText(value, code, cols = value.cols) {
  if (code === MEAN) return say(value.words, 'mean_query');
  if (code < 0) return value.prefix_labels[-1 - code] ?? value.prefix[-1 - code] ?? '';
  return say(value.words, 'patch', {row: Math.floor(code / cols), col: code % cols});
}

/** Name of a head or of a fusion. */
export function headText(value, head) {
  if (value.heads === 1) return say(value.words, 'fused_one');
  if (typeof head === 'number') return say(value.words, 'head', {head});
  return say(value.words, `fused_${head}`, {heads: value.heads});
}

/** Number of the block and of all blocks, in words. */
export function blockText(value) {
  return say(value.words, 'block', {block: value.block, last: value.depth - 1});
}
