// Scales of axes, their ticks, and short numbers.

/**
 * @typedef {object} Scale
 * @property {(value: number) => number} to returns the pixels of a number
 * @property {(place: number) => number} from returns the number at a pixel
 * @property {number} low
 * @property {number} high
 */

/**
 * @param {number} low
 * @param {number} high equal to `low` where there is only one number
 * @param {number} begin in pixels
 * @param {number} end
 * @returns {Scale}
 */
export function scale(low, high, begin, end) {
  const span = high - low || 1;
  return {
    low,
    high,
    to: (value) => begin + ((end - begin) * (value - low)) / span,
    from: (place) => low + (span * (place - begin)) / (end - begin),
  };
}

/**
 * Returns about `wanted` round numbers from `low` to `high`, in steps of 1, 2 or 5 times a power of ten.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} wanted
 * @returns {number[]}
 */
export function ticks(low, high, wanted) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({length: last - first + 1}, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/**
 * Formats a number with three significant digits.
 *
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size && (size >= 1e6 || size < 1e-4)) return value.toExponential(1).replace(/-/g, '\u2212');
  if (Number.isInteger(value)) return value.toLocaleString('en').replace('-', '\u2212');
  return String(Number(value.toPrecision(3))).replace('-', '\u2212');
}

/**
 * Sorts two numbers and clips them to a scale.
 *
 * @param {number} one
 * @param {number} other
 * @param {Scale} within
 * @returns {[number, number]}
 */
export function ordered(one, other, {low, high}) {
  const inside = (value) => Math.min(high, Math.max(low, value));
  return [inside(Math.min(one, other)), inside(Math.max(one, other))];
}
