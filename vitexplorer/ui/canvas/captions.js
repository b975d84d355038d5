// Sentences around the picture: the map, the colour scale, the use of the mouse.

import {MEAN} from './payload.js';
import {isSilent} from './queries.js';
import {resting, wanted} from './selection.js';
import {headText, percent, say, tokenText} from './texts.js';

export const directionText = ({value}, code) => say(value.words, 'direction', {query: tokenText(value, code)});

export function questionText({value}, code) {
  return value.run || say(value.words, code === MEAN ? 'question_mean' : 'question', {query: tokenText(value, code)});
}

/** Name of the map, and its strongest key. */
export function readingText({value, grids}, state, {shown}) {
  const cell = strongestOf(shown);
  return say(value.words, 'reading', {
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
    say(words, 'note_precision', {error: percent(shown.error)}),
  ]
    .filter(Boolean)
    .join(' · ');
}
