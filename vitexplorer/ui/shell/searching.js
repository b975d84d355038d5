// Which entries of a list a search finds.

/**
 * Entries in which every word of the search occurs, whatever its case.
 *
 * @template {Record<string, any>} Entry
 * @param {Entry[]} entries
 * @param {string} sought
 * @param {string[]} fields of an entry that are searched
 * @returns {Entry[]}
 */
export function found(entries, sought, fields) {
  const pieces = sought.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const text = fields.map((field) => entry[field]).join(' ').toLowerCase();
    return pieces.every((piece) => text.includes(piece));
  });
}

/**
 * Entries one after the other by what a field says, in the order in which each first occurs.
 *
 * @template {Record<string, any>} Entry
 * @param {Entry[]} entries
 * @param {string} field
 * @returns {[string, Entry[]][]}
 */
export function grouped(entries, field) {
  /** @type {Map<string, Entry[]>} */
  const groups = new Map();
  for (const entry of entries) groups.set(entry[field], [...(groups.get(entry[field]) ?? []), entry]);
  return [...groups];
}
