// Values stored in this browser as JSON. A page that may store nothing, such as one in a frame, forgets them.

/**
 * Returns a stored value, or `otherwise` if there is none that can be read.
 *
 * @param {string} key
 * @param {any} otherwise
 */
export function readStored(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? otherwise;
  } catch {
    return otherwise;
  }
}

/**
 * Stores a value; returns false if the browser refuses or has no space.
 *
 * @param {string} key
 * @param {any} value
 */
export function writeStored(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
