// A person's progress on the guided path: answers and finished tasks, stored in their browser.

import {readStored, writeStored} from '../../kit/stored.js';

const STORE = 'vx-learn';

/**
 * @typedef {object} Progress
 * @property {string} step key of the last open step
 * @property {Record<string, number>} answers
 * @property {Record<string, boolean>} done
 */

/** @returns {Progress} */
export function loadProgress() {
  const {step, answers, done} = readStored(STORE, {});
  return {step: String(step ?? ''), answers: {...answers}, done: {...done}};
}

/** @param {Progress} progress */
export function saveProgress(progress) {
  writeStored(STORE, progress);
}

/**
 * Returns true if a task is done: every parameter of the address matches its pattern in full.
 *
 * @param {Record<string, string>} becomes
 * @param {string} search
 */
export function isDone(becomes, search) {
  const parameters = new URLSearchParams(search);
  return Object.entries(becomes).every(([name, pattern]) =>
    new RegExp(`^(?:${pattern})$`).test(parameters.get(name) ?? ''),
  );
}

const PICTURE = {image: '', model: '', weights: 'trained', fit: 'crop', size: ''};

/**
 * Returns a key of the captured picture: equal keys mean the same capture.
 *
 * @param {string} search
 */
export function pictureOf(search) {
  const parameters = new URLSearchParams(search);
  return JSON.stringify(Object.entries(PICTURE).map(([name, initial]) => parameters.get(name) || initial));
}

const PERSONAL = ['image', 'lang', '__theme', 'lecture'];

/**
 * Returns the parameters of a step: its own state, with the person's image, language, theme and lecture mode.
 *
 * @param {Record<string, string>} state
 * @param {string} step
 * @param {string} search
 */
export function addressOf(state, step, search) {
  const now = new URLSearchParams(search);
  const query = new URLSearchParams();
  for (const name of PERSONAL) if (now.has(name)) query.set(name, now.get(name));
  for (const [name, value] of Object.entries({...state, step})) query.set(name, value);
  return query.toString();
}

/**
 * Returns the parameters from before the path was opened, with the person's present image, language, theme and mode.
 *
 * @param {string} before
 * @param {string} search
 */
export function addressBefore(before, search) {
  const now = new URLSearchParams(search);
  const query = new URLSearchParams(before);
  for (const name of ['step', ...PERSONAL]) query.delete(name);
  for (const name of PERSONAL) if (now.has(name)) query.set(name, now.get(name));
  return query.toString();
}

const EDGE = 16; // pixels, for the line around the highlighted part

/**
 * Returns the distance to scroll so that a part lies between two edges; only its beginning if it is too large.
 *
 * @param {{top: number, bottom: number}} part
 * @param {number} top
 * @param {number} bottom
 */
export function scrollFor(part, top, bottom) {
  const above = part.top - top - EDGE;
  const below = part.bottom - bottom + EDGE;
  return above < 0 || below > above ? above : Math.max(0, below);
}
