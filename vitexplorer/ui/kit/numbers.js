// Numbers as they are read: thousands apart, a minus that is one.

/** @param {string} text */
const minus = (text) => text.replace('-', '\u2212');

/**
 * A count with its thousands apart: 5,717,416.
 *
 * @param {number} count
 */
export const spaced = (count) => minus(count.toLocaleString('en'));

/**
 * A share of 0-1 to a tenth of a percent; one that would be written 0.0 % but is not nothing is < 0.1 %.
 *
 * @param {number} share
 */
export function percent(share) {
  const tiny = share !== 0 && Math.abs(share) < 0.0005;
  return tiny ? '< 0.1 %' : `${minus((100 * share).toFixed(1))} %`;
}
