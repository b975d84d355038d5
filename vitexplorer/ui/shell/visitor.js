// Name of the visitor's browser: drawn at random once and stored, see `visitor_names.py`.

const NAME = /^[0-9a-f]{32}$/;
let name = '';

function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the browser's name, and stores a new one if it has none. */
export function browserName() {
  try {
    name ||= localStorage.getItem('vx-visitor') ?? '';
  } catch {
    /* an embedded page that may not store anything */
  }
  if (!NAME.test(name)) name = randomName();
  try {
    localStorage.setItem('vx-visitor', name);
  } catch {
    /* then the name lasts as long as the page */
  }
  return name;
}

/**
 * Returns the inputs of an event with the visitor in the first: JSON with `visitor` and `run`, the training that the
 * address names.
 *
 * @param {any} _first
 * @param {...any} others
 * @returns {any[]}
 */
export function visitor(_first, ...others) {
  const run = new URL(location.href).searchParams.get('run') ?? '';
  return [JSON.stringify({visitor: browserName(), run}), ...others];
}
