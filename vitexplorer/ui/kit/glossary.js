// Glossary of the page: in texts with `data-explain`, the first occurrence of each term becomes a button. Its sentence
// and formula appear on hover, focus or tap, in one popover for the whole page.

import {make, setText} from './dom.js';

const GAP = 8; // pixels between the popover, its term and the edges of the window
const POPOVER = 'vx-explains';
const PATIENCE = 200; // milliseconds in which the pointer may reach the popover

/**
 * Marks the terms below an element, now and whenever a text there changes.
 *
 * @param {HTMLElement} root
 */
export async function explain(root) {
  const language = document.documentElement.lang.startsWith('zh') ? 'zh' : 'en';
  const {entries} = await import(`./glossary_${language}.js`);
  const find = finder(entries);
  const marked = new WeakMap();
  if (!document.getElementById(POPOVER)) popover();

  function update() {
    for (const text of root.querySelectorAll('[data-explain]')) {
      const state = `${text.getElementsByClassName('vx-term').length} ${text.textContent}`;
      if (marked.get(text) === state) continue;
      mark(text, find);
      marked.set(text, `${text.getElementsByClassName('vx-term').length} ${text.textContent}`);
    }
    observer.takeRecords();
  }

  const observer = new MutationObserver(update);
  observer.observe(root, {childList: true, subtree: true, characterData: true});
  update();
}

/** @type {WeakMap<Element, Entry>} */
const entryOf = new WeakMap();

/**
 * @param {Element} text element whose terms are marked, except in links and buttons
 * @param {(text: string) => Found[]} find
 */
function mark(text, find) {
  for (const term of text.querySelectorAll('.vx-term')) term.replaceWith(...term.childNodes);
  text.normalize();
  const pieces = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  /** @type {Text[]} */
  const nodes = [];
  while (pieces.nextNode()) nodes.push(/** @type {Text} */ (pieces.currentNode));
  for (const node of nodes.filter(({parentElement}) => !parentElement.closest('a, button'))) {
    const found = find(node.data).filter(({entry}) => !seen.has(entry));
    found.forEach(({entry}) => seen.add(entry));
    for (const {start, end, entry} of found.reverse()) {
      const word = node.splitText(start);
      word.splitText(end - start);
      const term = make('button.vx-term', word.data);
      entryOf.set(term, entry);
      word.replaceWith(term);
    }
  }
}

/**
 * Returns left and top of a box below its term, or above it if there is no space below; always inside the window.
 *
 * @param {{left: number, top: number, bottom: number}} term
 * @param {{width: number, height: number}} box
 * @param {{width: number, height: number}} room
 * @returns {{left: number, top: number}} pixels
 */
export function beside(term, box, room) {
  const below = term.bottom + GAP;
  const above = term.top - GAP - box.height;
  const fits = below + box.height + GAP <= room.height || above < GAP;
  const left = Math.max(GAP, Math.min(term.left, room.width - box.width - GAP));
  return {left, top: Math.max(GAP, Math.min(fits ? below : above, room.height - box.height - GAP))};
}

function popover() {
  const word = make('strong');
  const says = make('span.says');
  const formula = make('code');
  const box = make(
    'div.vx-explains',
    {id: POPOVER, popover: 'manual', attributes: {role: 'tooltip'}},
    word,
    says,
    formula,
  );
  document.body.append(box);
  let shown = null;
  let leaving = 0;

  function place() {
    if (!shown) return;
    if (!shown.isConnected) {
      hide();
      return;
    }
    const {left, top} = beside(shown.getClientRects()[0], box.getBoundingClientRect(), {
      width: innerWidth,
      height: innerHeight,
    });
    box.style.setProperty('left', `${left}px`);
    box.style.setProperty('top', `${top}px`);
  }

  function show(term) {
    clearTimeout(leaving);
    if (shown === term) return;
    hide();
    const entry = entryOf.get(term);
    setText(word, entry.spellings[0]);
    setText(says, entry.says);
    setText(formula, entry.formula);
    formula.hidden = !entry.formula;
    term.setAttribute('aria-describedby', box.id);
    shown = term;
    box.showPopover();
    place();
  }

  function hide() {
    clearTimeout(leaving);
    shown?.removeAttribute('aria-describedby');
    shown = null;
    box.hidePopover();
  }

  const termOf = ({target}) => target.closest?.('.vx-term');
  document.addEventListener('pointerover', (event) => {
    if (event.pointerType !== 'mouse') return;
    clearTimeout(leaving);
    if (termOf(event)) show(termOf(event));
    else if (shown && !box.contains(/** @type {Node} */ (event.target))) leaving = setTimeout(hide, PATIENCE);
  });
  document.addEventListener('focusin', (event) => {
    if (termOf(event)?.matches(':focus-visible')) show(termOf(event));
    else if (shown && !termOf(event)) hide();
  });
  document.addEventListener('click', (event) => {
    if (termOf(event)) show(termOf(event));
    else if (!box.contains(/** @type {Node} */ (event.target))) hide();
  });
  // Escape closes only this popover, not a panel around the term.
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || !shown) return;
      event.stopPropagation();
      hide();
    },
    true,
  );
  document.addEventListener('scroll', place, {capture: true, passive: true});
  addEventListener('resize', place);
}

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
 * Makes a function that finds the terms of a glossary. Of overlapping terms the longest wins, so that "class token" is
 * not marked as "token". English words match as whole words, with or without an s; a single Chinese character only if
 * it is a word.
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
