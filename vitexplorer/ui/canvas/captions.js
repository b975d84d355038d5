// The sentences around the picture: what it shows, where the numbers end, what the mouse does here.

import {MEAN} from './payload.js';
import {isSilent} from './queries.js';
import {resting, wanted} from './selection.js';
import {headText, percent, say, tokenText} from './texts.js';

export const directionText = ({value}, code) => say(value.words, 'direction', {query: tokenText(value, code)});

export function questionText({value}, code) {
  return value.run || say(value.words, code === MEAN ? 'question_mean' : 'question', {query: tokenText(value, code)});
}

/** What is shown, and the strongest key of it. */
export function readingText({value, grids}, state, {shown}) {
  const cell = strongestOf(shown);
  return say(value.words, 'reading', {
    block: value.block, last: value.depth - 1, head: headText(value, state.head),
    key: tokenText(value, cell, grids.keys.cols), share: percent(shown.map[cell]),
  });
}

const strongestOf = ({map, peak}) => map.findIndex((share) => Math.abs(share) === peak);

/** Shares at the lower end of the scale, in its middle and at its upper end. */
export const ticksOf = ({payload}, top) => (payload.signed ? [-top, 0, top] : [0, top / 2, top]).map((share) => percent(share));

/**
 * The key that is read, or the strongest one: what it is, where it lies and its share.
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

/** What the mouse does here; first of all, where a token that was asked for does not look, that it does not. */
export function hintText(block, state, touch) {
  const {value, payload} = block, {words} = value, query = tokenText(value, resting(state, block));
  if (isSilent(value, MEAN)) return say(words, 'hint_class', {query});
  const kind = payload.partial ? 'hint_partial' : state.pinned !== null ? 'hint_pinned' : 'hint';
  const usual = say(words, touch ? `${kind}_touch` : kind);
  if (!isSilent(value, wanted(state))) return usual;
  return `${say(words, 'hint_silent', {token: tokenText(value, wanted(state)), query})} ${usual}`;
}

/** Where the colours end, and what else a person must know of these numbers. */
export function notesText({value: {words}, payload}, state, {scene, shown}) {
  return [
    say(words, payload.signed ? `signed_${state.scale}_long` : `scale_${state.scale}_long`),
    scene.window && say(words, 'note_window'),
    state.keep_mass < 1 && say(words, 'note_keep', {share: percent(state.keep_mass, 2)}),
    state.smooth && say(words, 'note_smooth'),
    say(words, 'note_precision', {error: percent(shown.error)}),
  ].filter(Boolean).join(' · ');
}
