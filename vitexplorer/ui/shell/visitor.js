// Which browser the page is open in: a name that it draws once and keeps, see visitor.py.

const NAME = /^[0-9a-f]{32}$/;
let name = '';

function draw() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What the browser is called. */
export function browserName() {
  try { name ||= localStorage.getItem('vx-visitor') ?? ''; } catch { /* a frame that may not keep anything */ }
  if (!NAME.test(name)) name = draw();
  try { localStorage.setItem('vx-visitor', name); } catch { /* then for this page alone */ }
  return name;
}

/**
 * The inputs of an event with the visitor in the first: JSON with `visitor` and `run`, the training that the address
 * names.
 *
 * @param {any} first
 * @param {...any} others
 * @returns {any[]}
 */
export function visitor(first, ...others) {
  const run = new URL(location.href).searchParams.get('run') ?? '';
  return [JSON.stringify({visitor: browserName(), run}), ...others];
}
