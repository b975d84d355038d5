// Numbers and punctuation for people, in the way of their language.

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
  return tiny ? '< 0.1\u00a0%' : `${minus((100 * share).toFixed(1))}\u00a0%`;
}

const RAISED = /** @type {Record<string, string>} */ ({
  '-': '⁻',
  ...Object.fromEntries([...'⁰¹²³⁴⁵⁶⁷⁸⁹'].map((sign, digit) => [digit, sign])),
});

/**
 * Formats a number to three significant digits, as `measured` of Python: 116, 0.420, 3.2 × 10⁻⁵; – where it is none.
 *
 * @param {number} value
 */
export function measured(value) {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const [digits, exponent] = value.toExponential(2).split('e');
  const power = Number(exponent);
  if (power < -4 || power >= 7) {
    const raised = [...String(power)].map((sign) => RAISED[sign]).join('');
    return minus(`${Number(digits)} × 10${raised}`);
  }
  const decimals = Math.max(0, 2 - power);
  const options = {minimumFractionDigits: decimals, maximumFractionDigits: decimals};
  return minus(Number(`${digits}e${exponent}`).toLocaleString('en', options));
}

const CHINESE = /\p{Script=Han}/u;

/**
 * Joins a name and its value with a colon.
 *
 * @param {string} name
 * @param {string} what
 */
export const labelled = (name, what) => (CHINESE.test(name) ? `${name}：${what}` : `${name}: ${what}`);

/**
 * Joins texts with commas.
 *
 * @param {string[]} texts
 */
export const listed = (texts) => texts.join(texts.some((text) => CHINESE.test(text)) ? '，' : ', ');

/**
 * Joins sentences; a Chinese one ends without a space.
 *
 * @param {string[]} sentences empty ones are left out
 */
export const inARow = (sentences) =>
  sentences.filter(Boolean).reduce((text, next) => text + (!text || text.endsWith('。') ? '' : ' ') + next, '');

/**
 * Makes a sentence of a phrase and appends further sentences.
 *
 * @param {string} phrase phrase without its full stop
 * @param {string} sentences
 */
export const followed = (phrase, sentences) =>
  CHINESE.test(phrase) ? `${phrase}。${sentences}` : `${phrase}. ${sentences}`;

/**
 * Formats date and time in the language of the page.
 *
 * @param {number} seconds since 1970; 0 for none
 */
export function moment(seconds) {
  const language = document.documentElement.lang || undefined;
  return seconds ? new Date(1000 * seconds).toLocaleString(language, {dateStyle: 'medium', timeStyle: 'short'}) : '';
}
