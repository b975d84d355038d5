// What a person chose to train, as the address has it: only what is not as the fields begin.

/**
 * @typedef {object} Chosen
 * @property {string[] | null} on keys of the methods that are ticked; null where it is Python that ticked them
 * @property {Record<string, Record<string, string>>} settings by method
 * @property {Record<string, string>} plan
 */

/**
 * @param {Chosen} chosen
 * @param {Record<string, string>} first what the fields of the plan begin with
 * @returns {string} empty where nothing was chosen
 */
export function written({on, settings, plan}, first) {
  const others = Object.fromEntries(Object.entries(plan).filter(([name, value]) => value !== first[name]));
  const said = Object.entries({settings, plan: others}).filter(([, one]) => Object.keys(one).length);
  return on || said.length ? JSON.stringify({...(on && {on}), ...Object.fromEntries(said)}) : '';
}

const texts = (one) => Object.fromEntries(Object.entries(one ?? {}).filter(([, value]) => typeof value === 'string'));

/**
 * From an address, which may say anything; Python checks what the methods make of it.
 *
 * @param {string} text
 * @returns {Chosen}
 */
export function read(text) {
  let said = null;
  try { said = JSON.parse(text); } catch { /* nothing was chosen, or nonsense */ }
  const {on, settings, plan} = said ?? {};
  return {
    on: Array.isArray(on) ? on.map(String) : null,
    settings: Object.fromEntries(Object.entries(settings ?? {}).map(([key, one]) => [key, texts(one)])),
    plan: texts(plan),
  };
}
