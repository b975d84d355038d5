// List of saved views: its records, its file format, and a lecture page that needs no server.

import {make} from '../kit/dom.js';

const KIND = 'ViT Explorer: kept views';
const MAX_TITLE = 300; // characters of a title
const MAX_VIEWS = 200; // views of a list
const PERSONAL = ['lang', '__theme', 'lecture', 'embed']; // parameters of the person's display, not of the picture

/**
 * @typedef {object} SavedView
 * @property {string} title
 * @property {string} query parameters of the link, without the `?`
 * @property {string} [picture] data URL
 */

/**
 * Returns a link's parameters of the picture, without those of the person's display.
 *
 * @param {string} search
 * @returns {string}
 */
export function pictureQuery(search) {
  const parameters = new URLSearchParams(search);
  for (const name of PERSONAL) parameters.delete(name);
  return parameters.toString();
}

/**
 * Returns a link's parameters with the current display of this person.
 *
 * @param {string} query
 * @param {string} search current parameters of the page
 * @returns {string}
 */
export function withDisplay(query, search) {
  const parameters = new URLSearchParams(query);
  const now = new URLSearchParams(search);
  for (const name of PERSONAL) if (now.has(name)) parameters.set(name, now.get(name));
  return `?${parameters}`;
}

/**
 * Returns the text of an exported list; it has no pictures, which are made again.
 *
 * @param {SavedView[]} views
 * @returns {string}
 */
export function writeList(views) {
  return JSON.stringify({kind: KIND, views: views.map(({title, query}) => ({title, query}))}, null, 1);
}

/**
 * Reads an exported list; null if the text is not one.
 *
 * @param {string} text
 * @returns {SavedView[] | null}
 */
export function readList(text) {
  try {
    const {kind, views} = JSON.parse(text);
    if (kind !== KIND || !Array.isArray(views) || views.length > MAX_VIEWS) return null;
    const isValid = views.every(
      ({title, query}) => typeof title === 'string' && title.length <= MAX_TITLE && typeof query === 'string',
    );
    return isValid ? views.map(({title, query}) => ({title, query: pictureQuery(query)})) : null;
  } catch {
    return null;
  }
}

// STYLE and TURN contain none of <, > and &, which XML would escape.
const STYLE = `body { margin: 0; background: #0a0e1a; color: #e9eefb;
  font: 18px/1.5 Inter, system-ui, "Noto Sans SC", "Microsoft YaHei", sans-serif; }
section { display: none; flex-direction: column; align-items: center; gap: 16px;
  box-sizing: border-box; height: 100vh; padding: 24px; }
section:target, section:first-of-type { display: flex; } body:has(:target) section:not(:target) { display: none; }
h1 { margin: 0; font-size: 28px; }
img { min-height: 0; flex: 1; max-width: 100%; object-fit: contain; background: #fff; border-radius: 12px; }
a { color: #a5b4fc; }`;
const TURN = `addEventListener('keydown', function ({key}) {
const by = {ArrowRight: 1, PageDown: 1, ' ': 1, ArrowLeft: -1, PageUp: -1}[key];
const all = document.querySelectorAll('section').length, now = Number(location.hash.slice(2)) || 0;
if (by) location.hash = 'v' + Math.max(0, Math.min(all - 1, now + by)); });`;

/**
 * Returns a self-contained page: a picture and a link for each view, to page through with arrow or presenter keys.
 *
 * @param {SavedView[]} views
 * @param {string} home address of the page that the links lead to
 * @param {string} lang
 * @returns {string}
 */
export function lecturePage(views, home, lang) {
  const page = document.implementation.createHTMLDocument('ViT Explorer');
  page.documentElement.lang = lang;
  page.head.append(make('meta', {attributes: {charset: 'utf-8'}}), make('style', STYLE));
  page.body.append(
    ...views.map(({title, query, picture}, i) =>
      make(
        'section',
        {id: `v${i}`},
        make('h1', title),
        picture ? make('img', {src: picture, alt: title}) : null,
        make('a', {href: `${home}?${query}`}, `${i + 1} / ${views.length}`),
      ),
    ),
  );
  page.body.append(make('script', TURN));
  return new XMLSerializer().serializeToString(page);
}
