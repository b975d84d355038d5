// The address bar, which holds what a link to this very picture needs.

/**
 * Writes parameters into the address bar without reloading; an empty value takes its parameter away.
 *
 * @param {Record<string, string | number | null | undefined>} changes
 */
export function writeAddress(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || value === null || value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  }
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}
