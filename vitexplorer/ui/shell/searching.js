// Search in a list of entries.

/**
 * Returns the entries that contain every word of the query, in upper or lower case.
 *
 * @template {Record<string, any>} Entry
 * @param {Entry[]} entries
 * @param {string} query
 * @param {string[]} fields fields to search
 * @returns {Entry[]}
 */
export function matching(entries, query, fields) {
  const pieces = query.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const text = fields
      .map((field) => entry[field])
      .join(' ')
      .toLowerCase();
    return pieces.every((piece) => text.includes(piece));
  });
}

/**
 * Groups entries by the value of a field, in order of first occurrence.
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
