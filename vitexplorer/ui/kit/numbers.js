// Numbers for people: thousands separators, and a true minus sign.

/** @param {string} text */
const minus = (text) => text.replace('-', '\u2212');

/**
 * Formats a count with thousands separators: 5,717,416.
 *
 * @param {number} count
 */
export const spaced = (count) => minus(count.toLocaleString('en'));

/**
 * Formats a share in 0-1 to a tenth of a percent; a share other than 0 that rounds to 0.0 % becomes < 0.1 %.
 *
 * @param {number} share
 */
export function percent(share) {
  const tiny = share !== 0 && Math.abs(share) < 0.0005;
  return tiny ? '< 0.1 %' : `${minus((100 * share).toFixed(1))} %`;
}
