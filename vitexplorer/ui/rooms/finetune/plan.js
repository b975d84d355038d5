// Choice of a training in the address: only values that differ from the defaults.

/**
 * @typedef {object} Chosen
 * @property {string[] | null} on keys of the ticked methods; null for the methods that Python ticks
 * @property {Record<string, Record<string, string>>} settings by method
 * @property {Record<string, string>} plan
 */

/**
 * @param {Chosen} chosen
 * @param {Record<string, string>} first defaults of the plan's fields
 * @returns {string} empty where nothing was chosen
 */
export function written({on, settings, plan}, first) {
  const others = Object.fromEntries(Object.entries(plan).filter(([name, value]) => value !== first[name]));
  const said = Object.entries({settings, plan: others}).filter(([, one]) => Object.keys(one).length);
  return on || said.length ? JSON.stringify({...(on && {on}), ...Object.fromEntries(said)}) : '';
}

const texts = (one) => Object.fromEntries(Object.entries(one ?? {}).filter(([, value]) => typeof value === 'string'));

/**
 * Parses the text of an address, which may be invalid; Python checks the values.
 *
 * @param {string} text
 * @returns {Chosen}
 */
export function read(text) {
  let said = null;
  try {
    said = JSON.parse(text);
  } catch {
    /* nothing was chosen, or nonsense */
  }
  const {on, settings, plan} = said ?? {};
  return {
    on: Array.isArray(on) ? on.map(String) : null,
    settings: Object.fromEntries(Object.entries(settings ?? {}).map(([key, one]) => [key, texts(one)])),
    plan: texts(plan),
  };
}
