// Punctuation between words from Python, in the way of their language: full width after Chinese words.

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
