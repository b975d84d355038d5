// Texts around the picture that follow the selection: the question and its reading, the colour bar, the read-out on the
// lower edge, the notes, the label for screen readers; and the progress bar over the picture.

import {setText} from '../kit/dom.js';
import {labelled, listed} from '../kit/formats.js';
import {isStill} from '../kit/motion.js';
import {
  directionText,
  headText,
  hintText,
  notesText,
  questionText,
  readingText,
  readOut,
  say,
  ticksOf,
} from './captions.js';
import {barOf, heightOf} from './colours.js';
import {putCells} from './picture.js';

const REST = 400; // ms
const LOW = 0.82; // share of the picture's height below which the read-out would cover the pointer

/** @typedef {import('./selection.js').Block} Block */
/** @typedef {import('./selection.js').State} State */
/** @typedef {import('./scene.js').View} View */

/**
 * @param {HTMLElement} root
 * @param {State} state
 * @param {() => void} rested called once the query has not changed for a moment
 * @returns {(block: Block, view: View) => void}
 */
export function newSurroundings(root, state, rested) {
  const find = (selector) => root.querySelector(selector);
  const ramp = find('.ramp');
  let timer = 0;
  let announced = '';
  let announcedOf = /** @type {Block | null} */ (null);

  function showScale(block, {mode, colormap, top}) {
    const [low, , high] = ticksOf(block, top);
    const name = `${mode} ${colormap}`;
    setText(find('.low'), low);
    setText(find('.high'), high);
    if (ramp.dataset.name === name) return;
    ramp.dataset.name = name;
    putCells(ramp, 256, 1, (words) => {
      barOf(mode, colormap).forEach(([red, green, blue], i) => {
        words[i] = 0xff000000 | (blue << 16) | (green << 8) | red;
      });
    });
  }

  function showWords(block, view) {
    const {scene, shown, code} = view;
    const {what, where, share, cell} = readOut(block, view);
    setText(find('.question'), questionText(block, code));
    setText(find('.said'), readingText(block, state, view));
    root.classList.toggle('low', state.hover !== null && state.hover.y > LOW);
    root.classList.toggle('pinned', state.pinned !== null && state.pinned === code);
    setText(find('.what'), what);
    setText(find('.where'), where);
    setText(find('.value'), share);
    find('.mark').style.left = `${100 * heightOf(shown.map[cell], scene.top, scene.colormap)}%`;
    if (!block.isPreview) setText(find('.hint'), hintText(block, state, matchMedia('(pointer: coarse)').matches));
    setText(find('.rare .notes'), notesText(block, state, view));
    setText(find('.notes.site'), block.value.notes.join(' '));
  }

  /**
   * Label of the picture: the map with its strongest key and share. It is spoken once the query rests, and only while
   * the focus is in the canvas.
   */
  function announceSoon(block, view) {
    const {value} = block;
    const {code, key} = view;
    const direction = directionText(block, code);
    const text = say(value.words, 'view_label', {direction, head: headText(value, state.head)});
    if (announcedOf === block && announced === `${text} ${key}`) return;
    const {what, where, share} = readOut(block, view);
    const seen = `${text} ${labelled(what, listed([where, share]))}`;
    const name = () => find('.view').setAttribute('aria-label', value.run ? labelled(value.run, seen) : seen);
    if (!announced) name();
    clearTimeout(timer);
    timer = setTimeout(() => {
      [announcedOf, announced] = [block, `${text} ${key}`];
      name();
      rested();
      if (root.contains(document.activeElement)) find('.live').textContent = seen;
    }, REST);
  }

  return (block, view) => {
    showScale(block, view.scene);
    showWords(block, view);
    announceSoon(block, view);
  };
}

const BUSY_AFTER = 150; // ms

/**
 * @param {HTMLElement} root
 * @returns {(busy: boolean, text: () => string) => void} shows or hides the bar; `text` is called when the bar appears
 */
export function newBusyBar(root) {
  const bar = root.querySelector('.bar');
  const label = root.querySelector('.busy .text');
  let timer = 0;
  let motion = null;

  function appear(text) {
    setText(label, text());
    root.classList.add('waiting');
    if (isStill()) return;
    const steps = [{transform: 'translateX(-100%)'}, {transform: 'translateX(400%)'}];
    motion = bar.animate(steps, {duration: 1200, iterations: Infinity});
  }

  return (busy, text) => {
    if (busy === Boolean(timer)) return;
    clearTimeout(timer);
    root.classList.remove('waiting');
    motion?.cancel();
    motion = null;
    timer = busy ? setTimeout(() => appear(text), BUSY_AFTER) : 0;
  };
}
