// How far a person is on the path: what they answered and did, kept by their browser.

const STORE = 'vx-learn';

/**
 * @typedef {object} Progress
 * @property {string} step where they left off
 * @property {Record<string, number>} answers
 * @property {Record<string, boolean>} done
 */

/** @returns {Progress} */
export function remembered() {
  try {
    const {step, answers, done} = JSON.parse(localStorage.getItem(STORE) ?? '{}');
    return {step: String(step ?? ''), answers: {...answers}, done: {...done}};
  } catch {
    return {step: '', answers: {}, done: {}};
  }
}

/** @param {Progress} progress */
export function remember(progress) {
  try { localStorage.setItem(STORE, JSON.stringify(progress)); } catch { /* then it lasts as long as the page */ }
}

/**
 * Whether the address says that something is done: every parameter matches its pattern whole.
 *
 * @param {Record<string, string>} becomes
 * @param {string} search
 */
export function isDone(becomes, search) {
  const said = new URLSearchParams(search);
  return Object.entries(becomes).every(([name, pattern]) => new RegExp(`^(?:${pattern})$`).test(said.get(name) ?? ''));
}

const PICTURE = {image: '', model: '', weights: 'trained', fit: 'crop', size: ''};

/**
 * What is captured, as far as the parameters say; two that say the same show the same capture.
 *
 * @param {string} search
 */
export function pictureOf(search) {
  const said = new URLSearchParams(search);
  return JSON.stringify(Object.entries(PICTURE).map(([name, first]) => said.get(name) || first));
}

const STAYS = ['image', 'lang', '__theme', 'lecture'];

/**
 * The parameters of a step: its own state, with the image that a person chose and how they look at the page.
 *
 * @param {Record<string, string>} state
 * @param {string} step
 * @param {string} search
 */
export function addressOf(state, step, search) {
  const now = new URLSearchParams(search), query = new URLSearchParams();
  for (const name of STAYS) if (now.has(name)) query.set(name, now.get(name));
  for (const [name, value] of Object.entries({...state, step})) query.set(name, value);
  return query.toString();
}

const EDGE = 16;  // pixels, for the line around what is lit up

/**
 * How far to scroll so that a part is seen between two edges: its beginning where there is no room for all of it.
 *
 * @param {{top: number, bottom: number}} part
 * @param {number} top
 * @param {number} bottom
 */
export function scrollFor(part, top, bottom) {
  const above = part.top - top - EDGE, below = part.bottom - bottom + EDGE;
  return above < 0 || below > above ? above : Math.max(0, below);
}
