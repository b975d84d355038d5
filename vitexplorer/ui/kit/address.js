// Address bar of the browser: it holds all parameters of a link to this picture.

/** @typedef {Record<string, string | number | null | undefined>} Changes */

const WRITTEN = 'vx-written';

/** @param {() => void} callback called whenever the address changes */
export const onWritten = (callback) => {
  document.addEventListener(WRITTEN, callback);
};

/** @param {Changes} changes */
function changed(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || value === null || value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  }
  return url;
}

/**
 * @param {Changes} changes
 * @param {'replaceState' | 'pushState'} method
 */
function write(changes, method) {
  const url = changed(changes);
  if (url.href === location.href) return;
  history[method](history.state, '', url);
  document.dispatchEvent(new CustomEvent(WRITTEN));
}

/**
 * Writes parameters into the address bar without reloading; an empty value removes its parameter.
 *
 * @param {Changes} changes
 */
export const writeAddress = (changes) => write(changes, 'replaceState');

/**
 * Writes parameters as a new entry of the browser's history, so that the back button returns to the previous address.
 *
 * @param {Changes} changes
 */
export const pushAddress = (changes) => write(changes, 'pushState');

/**
 * Returns a parameter of the address; empty if it has none.
 *
 * @param {string} name
 */
export const inAddress = (name) => new URL(location.href).searchParams.get(name) ?? '';

const OPENED = 'vx-link-opened';

/** Announces that the address is that of another link, although the page was not reloaded. */
export function linkOpened() {
  document.dispatchEvent(new CustomEvent('vx-address'));
  document.dispatchEvent(new CustomEvent(OPENED));
}

/** @param {() => void} callback */
export const onLink = (callback) => {
  document.addEventListener(OPENED, callback);
};

/**
 * Opens a room.
 *
 * @param {string} room its key
 * @param {string} [view] one of its views; empty for its first
 */
export function enterRoom(room, view = '') {
  document.dispatchEvent(new CustomEvent('vx-room', {detail: {room, view}}));
}

/**
 * Returns what a person chose in any room, in place of the defaults: a patch, a block, the number of a head, a class.
 *
 * @returns {Record<'query' | 'block' | 'head' | 'target', string>} empty strings for nothing
 */
export function chosenInAddress() {
  const {searchParams} = new URL(location.href);
  const taken = (name, form) => (form.test(searchParams.get(name) ?? '') ? searchParams.get(name) : '');
  return {
    query: taken('query', /^\d+,\d+$/),
    block: taken('block', /^\d+$/),
    head: taken('head', /^\d+$/),
    target: taken('target', /./),
  };
}

const GOING = 'vx-go';

/**
 * Changes parameters of the page's state, as a link does. The other parameters stay, except for the selected view and
 * the block of the right side of Compare, which are reset.
 *
 * @param {Changes} changes
 */
export function goTo(changes) {
  const {searchParams} = changed({other_block: '', ...viewChanges('', {}), ...changes});
  document.dispatchEvent(new CustomEvent(GOING, {detail: searchParams.toString()}));
}

/** @param {(query: string) => void} go */
export const onGoing = (go) => {
  document.addEventListener(GOING, (/** @type {CustomEvent} */ event) => go(event.detail));
};

const SETTING = 'v.';

/**
 * Returns the changes that select a room's view, with its settings other than the defaults, instead of the current one.
 *
 * @param {string} view empty for none
 * @param {Record<string, string>} settings
 * @returns {Changes}
 */
export function viewChanges(view, settings) {
  const before = [...new URL(location.href).searchParams.keys()].filter((name) => name.startsWith(SETTING));
  const now = Object.entries(settings).map(([name, value]) => [SETTING + name, value]);
  return {view, ...Object.fromEntries(before.map((name) => [name, ''])), ...Object.fromEntries(now)};
}

/**
 * Returns the room, view and settings of the address.
 *
 * @returns {{room: string, view: string, settings: Record<string, string>}} empty strings for missing parameters
 */
export function viewInAddress() {
  const {searchParams} = new URL(location.href);
  const settings = [...searchParams].filter(([name]) => name.startsWith(SETTING));
  return {
    room: searchParams.get('room') ?? '',
    view: searchParams.get('view') ?? '',
    settings: Object.fromEntries(settings.map(([name, value]) => [name.slice(SETTING.length), value])),
  };
}
