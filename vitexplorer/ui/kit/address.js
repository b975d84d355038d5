// The address bar, which holds what a link to this very picture needs.

/** @typedef {Record<string, string | number | null | undefined>} Changes */

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
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}

/**
 * The same as a step of its own, from which the browser's back button leads to what stood there before.
 *
 * @param {Changes} changes
 */
export function pushAddress(changes) {
  const url = changed(changes);
  if (url.href !== location.href) history.pushState(history.state, '', url);
}
