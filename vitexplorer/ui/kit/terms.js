// Search for terms of the glossary in a text. Of overlapping terms the longest wins, so that "class token" is not
// marked as "token". English words match as whole words, with or without an s; a single Chinese character only if it is
// a word.

/**
 * @typedef {object} Entry
 * @property {string[]} spellings spellings of the term, the usual one first
 * @property {string} says
 * @property {string} formula
 */

/**
 * @typedef {object} Found
 * @property {number} start
 * @property {number} end
 * @property {Entry} entry
 */

const LETTER = '[\\p{Script=Latin}\\p{N}_\\-]'; // includes _, which names of models contain
const CHINESE = /\p{Script=Han}/u;
// characters that may precede a word of one character: 每个头, 某一块的头, 到块 3
const BEFORE_A_CHARACTER = '(?<=^|[^\\p{Script=Han}]|[个各每的与和或一有此该多在到从过])';

/** @param {string} word */
const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** @param {string} word */
function pattern(word) {
  if (!CHINESE.test(word)) return `(?<!${LETTER})${escaped(word)}(?:s|es)?(?!${LETTER})`;
  return word.length === 1 ? `${BEFORE_A_CHARACTER}${word}` : word;
}

/**
 * Makes a function that finds the terms of a glossary.
 *
 * @param {Entry[]} entries
 * @returns {(text: string) => Found[]} the first occurrence of each term, in the order of the text
 */
export function finder(entries) {
  const spellings = entries.flatMap((entry) => entry.spellings.map((word) => ({word, entry})));
  spellings.sort((one, other) => other.word.length - one.word.length);
  const byWord = new Map(spellings.map(({word, entry}) => [word.toLowerCase(), entry]));
  const all = new RegExp(spellings.map(({word}) => `(?:${pattern(word)})`).join('|'), 'giu');

  /** @param {string} match */
  const entryOf = (match) =>
    [match, match.slice(0, -1), match.slice(0, -2)].map((word) => byWord.get(word.toLowerCase())).find(Boolean);

  return (text) => {
    const seen = new Set();
    const found = [];
    for (const {0: word, index} of text.matchAll(all)) {
      const entry = entryOf(word);
      if (!seen.has(entry)) found.push({start: index, end: index + word.length, entry});
      seen.add(entry);
    }
    return found;
  };
}
