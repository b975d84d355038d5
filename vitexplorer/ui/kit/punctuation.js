// What stands between words that Python sent, as their language sets it: a Chinese word is followed by full width.

const CHINESE = /\p{Script=Han}/u;

/**
 * A name and what it names.
 *
 * @param {string} name
 * @param {string} what
 */
export const labelled = (name, what) => (CHINESE.test(name) ? `${name}：${what}` : `${name}: ${what}`);

/**
 * Several of one kind.
 *
 * @param {string[]} texts
 */
export const listed = (texts) => texts.join(texts.some((text) => CHINESE.test(text)) ? '，' : ', ');

/**
 * A phrase that becomes a sentence, and the sentences after it.
 *
 * @param {string} phrase without its full stop
 * @param {string} sentences
 */
export const followed = (phrase, sentences) => (CHINESE.test(phrase) ? `${phrase}。${sentences}` : `${phrase}. ${sentences}`);
