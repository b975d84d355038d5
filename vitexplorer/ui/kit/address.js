// The address bar, which holds what a link to this very picture needs.

/** @typedef {Record<string, string | number | null | undefined>} Changes */

const WRITTEN = 'vx-written';

/** @param {() => void} notice called whenever the address says something else */
export const onWritten = (notice) => { document.addEventListener(WRITTEN, notice); };

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
 * Writes parameters into the address bar without reloading; an empty value takes its parameter away.
 *
 * @param {Changes} changes
 */
export function writeAddress(changes) {
  const url = changed(changes);
  if (url.href === location.href) return;
  history.replaceState(history.state, '', url);
  document.dispatchEvent(new CustomEvent(WRITTEN));
}

/**
 * The same as a step of its own, from which the browser's back button leads to what stood there before.
 *
 * @param {Changes} changes
 */
export function pushAddress(changes) {
  const url = changed(changes);
  if (url.href === location.href) return;
  history.pushState(history.state, '', url);
  document.dispatchEvent(new CustomEvent(WRITTEN));
}

/**
 * What the address says of one thing; empty where it says nothing.
 *
 * @param {string} name
 */
export const inAddress = (name) => new URL(location.href).searchParams.get(name) ?? '';

const OPENED = 'vx-link-opened';

/** Says that the address is another link's, in a page that is not loaded anew. */
export const linkOpened = () => { document.dispatchEvent(new CustomEvent(OPENED)); };

/** @param {() => void} follow */
export const onLink = (follow) => { document.addEventListener(OPENED, follow); };

const GOING = 'vx-go';
const ELSEWHERE = ['both_block', 'both_head', 'both_query', 'other_block'];

/**
 * Brings the page into another state, as a link does: the parameters that are named, beside those of the address. What is
 * looked at there begins anew.
 *
 * @param {Changes} changes
 */
export function goTo(changes) {
  const begun = Object.fromEntries(ELSEWHERE.map((name) => [name, '']));
  const {searchParams} = changed({...begun, ...viewChanges('', {}), ...changes});
  document.dispatchEvent(new CustomEvent(GOING, {detail: searchParams.toString()}));
}

/** @param {(query: string) => void} go */
export const onGoing = (go) => {
  document.addEventListener(GOING, (/** @type {CustomEvent} */ event) => go(event.detail));
};

const SETTING = 'v.';

/**
 * A room's view with the settings that are not its defaults, in place of those that the address names now.
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
 * What the address says of a room's view.
 *
 * @returns {{room: string, view: string, settings: Record<string, string>}} empty strings where it says nothing
 */
export function viewInAddress() {
  const {searchParams} = new URL(location.href);
  const named = [...searchParams].filter(([name]) => name.startsWith(SETTING));
  return {
    room: searchParams.get('room') ?? '', view: searchParams.get('view') ?? '',
    settings: Object.fromEntries(named.map(([name, value]) => [name.slice(SETTING.length), value])),
  };
}
