// The patches board: values from Python, the current patch, and the keys and pointers that choose it.

import {fetchImage} from '../../canvas/fetching.js';
import {chosenInAddress, inAddress, onLink, writeAddress} from '../../kit/address.js';
import {filled, make, setText} from '../../kit/dom.js';
import {followed, listed} from '../../kit/formats.js';
import {newAside, showHead} from '../../kit/frame.js';
import {ARROWS} from '../../kit/grid.js';
import {grow} from '../../kit/motion.js';
import {csvFile, drawingFile, fileName, offersPicture, pngFile, saveFile} from '../../kit/saving.js';
import {drawing} from './board_drawing.js';
import {csvOf, numbersOf} from './board_table.js';
import {cutImage} from './cut.js';
import {facts, length, tokenIndex} from './facts.js';
import {inside, nearest, numberOf, patchOf} from './geometry.js';
import {sharp} from './ink.js';
import {magnifier} from './magnifier.js';
import {sequence} from './sequence.js';

/** @typedef {import('./geometry.js').Patch} Patch */

/** Milliseconds without a change before the picked patch is spoken. */
const RESTS = 400;

/** Default space between patches in hundredths of a side. */
const GAP = 12;

/** Makes a line of mathematics with D in italics. */
function written(text) {
  return text.split(/(D\b)/).map((piece) => (piece === 'D' ? make('i', piece) : piece));
}

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const board = part('.patches');
  /** @type {import('./cut.js').Scene} */
  const scene = {value: null, image: null, gap: GAP / 100};
  const cut = cutImage(board, scene);
  const zoom = magnifier(root, scene, say);
  const tokens = sequence(root, scene);
  const aside = newAside(root, save, () => (scene.image ? numbersOf(scene.value) : null));
  /** @type {Patch} */
  let kept = {row: 0, col: 0}; // clicked or reached by keys; at first the patch that Python chose
  let isPicked = false;
  /** @type {Patch | null} */
  let pointed = null; // patch under the pointer
  let url = null;
  let turn = 0;
  let speaking;
  let telling;

  const shown = () => pointed ?? kept;

  /** Tells screen readers the patch once the picking rests. */
  function say(text) {
    clearTimeout(speaking);
    speaking = setTimeout(() => {
      part('.spoken').textContent = text;
    }, RESTS);
  }

  // ------------------------------------------------------------------------------------ painting

  function writeFacts() {
    const {title, index, sum, numbers} = facts(scene.value, shown());
    part('.title').textContent = title;
    part('.index span').textContent = index;
    part('.index .math').textContent = sum;
    part('.numbers').replaceChildren(...written(numbers));
  }

  function paint() {
    if (!scene.image) return;
    cut.paint(shown(), kept);
    zoom.paint(shown());
    tokens.paint(numberOf(scene.value, shown()));
    writeFacts();
    Object.assign(root.dataset, {...shown(), index: tokenIndex(scene.value, shown())});
  }

  function lay() {
    tokens.lay();
    cut.paintLayer();
    paint();
    tokens.centre(numberOf(scene.value, shown()));
  }

  // ------------------------------------------------------------------------------------ picking

  /**
   * @param {Patch | null} patch null when the pointer leaves
   * @param {{keep?: boolean, follow?: boolean}} how `keep` holds the patch, `follow` scrolls the sequence to it
   */
  function look(patch, {keep = false, follow = true} = {}) {
    const before = shown();
    if (keep && patch) [kept, isPicked] = [patch, true];
    pointed = keep ? null : patch;
    if (follow) tokens.centre(numberOf(scene.value, shown()));
    if (keep || before.row !== shown().row || before.col !== shown().col) paint();
    if (!keep) return;
    say(listed([part('.title').textContent, `${scene.value.words.index} ${tokenIndex(scene.value, kept)}`]));
    clearTimeout(telling);
    telling = setTimeout(() => writeAddress({query: `${kept.row},${kept.col}`, patch: ''}), RESTS);
  }

  function pick(row, col) {
    if (scene.image) look(nearest(scene.value, {row, col}), {keep: true});
  }

  function listen(node, under, follow) {
    node.addEventListener('pointermove', (event) => {
      if (scene.image && event.pointerType !== 'touch') look(under(event), {follow});
    });
    node.addEventListener('pointerleave', () => {
      if (scene.image) look(null, {follow});
    });
    node.addEventListener('click', (event) => {
      const patch = scene.image && under(event);
      if (!patch) return;
      look(patch, {keep: true, follow});
      trigger('patch_select', patch);
    });
  }

  listen(board, cut.under, true);
  listen(tokens.strip, tokens.under, false);
  board.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key];
    if (!scene.image || !(step || ['Home', 'End', 'Enter'].includes(event.key))) return;
    event.preventDefault();
    if (step) pick(kept.row + step[0], kept.col + step[1]);
    else if (event.key === 'Enter') trigger('patch_select', kept);
    else pick(kept.row, event.key === 'Home' ? 0 : scene.value.cols - 1);
  });
  tokens.strip.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key]?.[1];
    if (!scene.image || !step) return;
    event.preventDefault();
    const {rows, cols} = scene.value;
    const next = patchOf(scene.value, inside(numberOf(scene.value, kept) + step, rows * cols));
    pick(next.row, next.col);
  });
  tokens.strip.addEventListener('scroll', () => {
    if (scene.image) tokens.paint(numberOf(scene.value, shown()));
  });

  // ------------------------------------------------------------------------------------ gap and files

  const gap = part('.gap input');

  function takeGap(share = 1) {
    scene.gap = (share * gap.valueAsNumber) / 100;
    cut.paintLayer();
    paint();
  }

  gap.addEventListener('input', () => takeGap());
  gap.addEventListener('change', () => writeAddress({gap: gap.valueAsNumber === GAP ? '' : gap.value}));

  // ------------------------------------------------------------------------------------ address

  /**
   * Patch of the address, which was chosen in any room; older links have a name of their own for it.
   *
   * @returns {Patch | null} null where it names none of this picture
   */
  function patchInAddress() {
    const [row, col] = (inAddress('patch') || chosenInAddress().query).split(',').map(Number);
    const {rows, cols} = scene.value;
    return row >= 0 && row < rows && col >= 0 && col < cols ? {row, col} : null;
  }

  /** Chooses the patch of the address, otherwise the one that Python chose. */
  function begin() {
    const named = patchInAddress();
    const [row, col] = scene.value.start;
    [kept, isPicked] = [named ?? {row, col}, Boolean(named)];
  }

  onLink(() => {
    if (!scene.image) return;
    begin();
    gap.value = inAddress('gap') || String(GAP);
    takeGap();
    tokens.centre(numberOf(scene.value, shown()));
  });

  const picture = () => drawing(scene, shown(), zoom.plane);

  async function save(format) {
    const {rows, cols, saved_as: name} = scene.value;
    const {row, col} = shown();
    const named = [name, `${rows}x${cols}`];
    if (format === 'csv') {
      saveFile(csvFile(csvOf(scene.value)), fileName(named, 'csv'));
      return;
    }
    saveFile(await drawingFile(picture(), format), fileName([...named, `row${row}-column${col}`], format.slice(0, 3)));
  }

  offersPicture(root, () => (scene.image ? pngFile(picture(), 2) : null));

  // ------------------------------------------------------------------------------------ values from Python

  function writeWords() {
    const {value} = scene;
    const {words} = value;
    const label = (node, name) => node.setAttribute('aria-label', name);
    showHead(root, value);
    aside.show(value, scene.image ? ['png2', 'svg', 'csv'] : []);
    setText(part('.show h3'), words.show);
    part('.gap span').textContent = words.gap;
    label(board, followed(filled(words.board, value), words.hint));
    label(part('.zoom'), filled(words.zoom, {side: value.patch_size}));
    part('.hint').textContent = words.hint;
    const names = [words.red, words.green, words.blue];
    root.querySelectorAll('.planes .name').forEach((node, channel) => {
      node.textContent = names[channel];
    });
    part('.length').textContent = length(value);
    label(tokens.strip, length(value));
    part('.failed').textContent = words.image_failed;
  }

  async function show() {
    const value = props.value;
    const mine = ++turn;
    if (!value?.image) {
      root.toggleAttribute('data-empty', true);
      return;
    }
    const next = value.image.url === url ? scene.image : await fetchImage(value.image.url).catch(() => null);
    if (mine !== turn) return; // a newer value came meanwhile
    const before = scene.value;
    const fresh = !isPicked || kept.row >= value.rows || kept.col >= value.cols;
    Object.assign(scene, {value, image: next});
    url = next && value.image.url;
    part('.failed').hidden = Boolean(next);
    sharp(board);
    writeWords();
    root.removeAttribute('data-empty'); // not before: buttons without a word are nothing to press
    root.style.setProperty('--aspect', value.cols / value.rows);
    pointed = null;
    if (fresh) {
      begin();
      zoom.begin();
    }
    lay();
    if (before && (before.rows !== value.rows || before.cols !== value.cols)) grow(takeGap); // joined, then cut anew
    root.dataset.ready = ++root.dataset.ready || 1;
  }

  new ResizeObserver(() => {
    if (scene.image) lay();
  }).observe(root);
  root.pick = pick;
  root.picture = picture; // the SVG element that the buttons save
  gap.value = inAddress('gap') || String(GAP);
  scene.gap = gap.valueAsNumber / 100;
  return show;
}
