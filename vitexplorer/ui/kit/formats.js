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
  return tiny ? '< 0.1 %' : `${minus((100 * share).toFixed(1))} %`;
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
