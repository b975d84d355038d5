// A list of kept views: what one is, what may be read from a file, and the page that a lecture is taken home as.

import {make} from '../kit/dom.js';

const KIND = 'ViT Explorer: kept views';
const LONGEST = 300;  // characters of a title
const MOST = 200;  // views of a list
const OWN = ['lang', '__theme', 'lecture', 'embed'];  // parameters that say how a person looks, not at what

/**
 * @typedef {object} KeptView
 * @property {string} title
 * @property {string} query the parameters of the link, without the `?`
 * @property {string} [picture] as a data URL
 */

/**
 * What a link's parameters say of the picture alone.
 *
 * @param {string} search
 * @returns {string}
 */
export function shown(search) {
  const parameters = new URLSearchParams(search);
  for (const name of OWN) parameters.delete(name);
  return parameters.toString();
}

/**
 * A link's parameters, with how this person looks.
 *
 * @param {string} query
 * @param {string} search of the page as it is
 * @returns {string}
 */
export function asLookedAt(query, search) {
  const parameters = new URLSearchParams(query), now = new URLSearchParams(search);
  for (const name of OWN) if (now.has(name)) parameters.set(name, now.get(name));
  return `?${parameters}`;
}

/**
 * The file that a list is exported as; pictures stay behind, for they are made anew.
 *
 * @param {KeptView[]} views
 * @returns {string}
 */
export function written(views) {
  return JSON.stringify({kind: KIND, views: views.map(({title, query}) => ({title, query}))}, null, 1);
}

/**
 * The list in a file; null where it is none.
 *
 * @param {string} text
 * @returns {KeptView[] | null}
 */
export function read(text) {
  try {
    const {kind, views} = JSON.parse(text);
    if (kind !== KIND || !Array.isArray(views) || views.length > MOST) return null;
    const known = views.every(({title, query}) => typeof title === 'string' && title.length <= LONGEST && typeof query === 'string');
    return known ? views.map(({title, query}) => ({title, query: shown(query)})) : null;
  } catch {
    return null;
  }
}

// Both are written as XML, in which <, > and & would be escaped: they have none.
const STYLE = `body { margin: 0; background: #0a0e1a; color: #e9eefb; font: 18px/1.5 Inter, system-ui, "Noto Sans SC", "Microsoft YaHei", sans-serif; }
section { display: none; flex-direction: column; align-items: center; gap: 16px; box-sizing: border-box; height: 100vh; padding: 24px; }
section:target, section:first-of-type { display: flex; } body:has(:target) section:not(:target) { display: none; }
h1 { margin: 0; font-size: 28px; } img { min-height: 0; flex: 1; max-width: 100%; object-fit: contain; background: #fff; border-radius: 12px; }
a { color: #a5b4fc; }`;
const TURN = `addEventListener('keydown', function ({key}) { const by = {ArrowRight: 1, PageDown: 1, ' ': 1, ArrowLeft: -1, PageUp: -1}[key];
const all = document.querySelectorAll('section').length, now = Number(location.hash.slice(2)) || 0;
if (by) location.hash = 'v' + Math.max(0, Math.min(all - 1, now + by)); });`;

/**
 * A page that needs nothing else: one picture a view, turned with the arrow or presenter keys, each with its link.
 *
 * @param {KeptView[]} views
 * @param {string} home address of the page that the links lead to
 * @param {string} lang
 * @returns {string}
 */
export function lecturePage(views, home, lang) {
  const page = document.implementation.createHTMLDocument('ViT Explorer');
  page.documentElement.lang = lang;
  page.head.append(make('meta', {attributes: {charset: 'utf-8'}}), make('style', {textContent: STYLE}));
  page.body.append(...views.map(({title, query, picture}, i) => make('section', {id: `v${i}`},
    make('h1', {textContent: title}), ...(picture ? [make('img', {src: picture, alt: title})] : []),
    make('a', {href: `${home}?${query}`, textContent: `${i + 1} / ${views.length}`}))));
  page.body.append(make('script', {textContent: TURN}));
  return new XMLSerializer().serializeToString(page);
}
