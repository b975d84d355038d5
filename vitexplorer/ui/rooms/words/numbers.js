// Numbers of texts and patches: the packed maps of Python, their range, the patches of each text.

/**
 * @typedef {object} MethodMaps
 * @property {Float32Array[]} maps of each text, patch by patch
 * @property {Uint8Array} best index of the best text of each patch
 * @property {(boolean | null)[]} [hits] true if the highest patch lies on what a text means, null if that is not known
 */

/**
 * Unpacks the maps of several methods, see `packed` in text_maps.py.
 *
 * @param {ArrayBuffer} bytes
 * @param {{counted: string[], texts: string[], rows: number, cols: number}} value
 * @returns {Map<string, MethodMaps>} by method
 */
export function unpacked(bytes, {counted, texts, rows, cols}) {
  const patches = rows * cols;
  const numbers = new Float32Array(bytes, 0, counted.length * texts.length * patches);
  const winners = new Uint8Array(bytes, numbers.byteLength, counted.length * patches);
  return new Map(
    counted.map((method, m) => {
      const first = m * texts.length;
      const maps = texts.map((_, t) => numbers.subarray((first + t) * patches, (first + t + 1) * patches));
      return [method, {maps, best: winners.subarray(m * patches, (m + 1) * patches)}];
    }),
  );
}

/**
 * @param {Float32Array[]} maps
 * @returns {{low: number, high: number}} the smallest and the largest number
 */
export function rangeOf(maps) {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const map of maps) {
    for (const value of map) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return {low, high};
}

/**
 * @param {Float32Array} map
 * @returns {{most: number, least: number}} patches of the largest and the smallest number, of equal ones the first
 */
export function extremes(map) {
  let [most, least] = [0, 0];
  map.forEach((value, patch) => {
    if (value > map[most]) most = patch;
    if (value < map[least]) least = patch;
  });
  return {most, least};
}

/**
 * @param {Float32Array} one
 * @param {Float32Array} other
 * @returns {number} their correlation (Pearson), -1 to 1; NaN where one of them is the same everywhere
 */
export function correlation(one, other) {
  const mean = (map) => map.reduce((sum, value) => sum + value, 0) / map.length;
  const [middle, otherMiddle] = [mean(one), mean(other)];
  let [both, squares, otherSquares] = [0, 0, 0];
  one.forEach((value, patch) => {
    const [x, y] = [value - middle, other[patch] - otherMiddle];
    both += x * y;
    squares += x * x;
    otherSquares += y * y;
  });
  return both / Math.sqrt(squares * otherSquares);
}

/**
 * @param {Uint8Array} best
 * @param {number} count number of texts
 * @returns {number[]} share of the patches of each text
 */
export function sharesOf(best, count) {
  const shares = Array(count).fill(0);
  for (const text of best) shares[text] += 1 / best.length;
  return shares;
}

/**
 * Texts of fields: stripped, a semicolon parts two, empty ones are left out, of equal ones the first stays.
 *
 * @param {string[]} fields
 */
export const textsOf = (fields) => [
  ...new Set(
    fields.flatMap((field) =>
      field
        .split(';')
        .map((text) => text.trim())
        .filter(Boolean),
    ),
  ),
];

/**
 * Fills the places of lines of Python.
 *
 * @param {string} lines
 * @param {{text: string, texts: string[], number: number, method: string}} chosen
 */
export function pythonOf(lines, {text, texts, number, method}) {
  const quoted = (words) => JSON.stringify(words).slice(1, -1).replaceAll("'", "\\'");
  const values = {text: quoted(text), texts: quoted(texts.join('; ')), number: String(number), method};
  return lines.replace(/\{(text|texts|number|method)\}/g, (_, name) => values[name]);
}
