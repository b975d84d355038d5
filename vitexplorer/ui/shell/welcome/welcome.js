// First visit to the page: its first picture runs through the blocks once, under a sentence with two buttons. A later
// visit, a link to anything and an embedded page begin still; any act ends the run.

import {inAddress} from '../../kit/address.js';
import {make} from '../../kit/dom.js';
import {isStill} from '../../kit/motion.js';
import {readStored, writeStored} from '../../kit/stored.js';

const VISITED = 'vx-visited';
const OF_LINKS = ['room', 'view', 'image', 'model', 'step', 'block', 'embed', 'lecture'];
const ACTS = ['pointerdown', 'keydown', 'wheel'];
const PACE = 450; // ms on each block

const isFirst = () => !OF_LINKS.some(inAddress) && !readStored(VISITED, false);

/** Lays the sentence and its buttons over the picture; a press elsewhere and Escape take them away. */
function addPromise(picture, texts) {
  const over = new AbortController();
  const close = () => {
    promise.remove();
    over.abort();
  };
  const button = (name, open) => make('button', {onclick: () => [close(), open()]}, name);
  const promise = make(
    'div.welcome',
    make('p', texts.promise),
    button(texts.learn, () => document.dispatchEvent(new CustomEvent('vx-learn'))),
    button(texts.image, () => document.querySelector('#vx-image .chip').click()),
  );
  picture.append(promise);
  const options = {capture: true, passive: true, signal: over.signal};
  document.addEventListener(
    'pointerdown',
    ({target}) => promise.contains(/** @type {Node} */ (target)) || close(),
    options,
  );
  document.addEventListener('keydown', ({key}) => key === 'Escape' && close(), options);
}

/**
 * @param {HTMLElement} picture element around the first picture of the page
 * @param {(block: number) => boolean} show shows the maps of a block; false once something else is on the screen
 */
export function newWelcome(picture, show) {
  let waits = isFirst();

  /** Shows one block after the other, from the first to the current one. */
  function run(current) {
    const over = new AbortController();
    let block = 0;
    const end = () => {
      clearInterval(timer);
      over.abort();
      show(current);
    };
    const step = () => {
      if (block >= current) return end();
      if (!show(block)) over.abort();
      block += 1;
    };
    const timer = setInterval(step, PACE);
    over.signal.addEventListener('abort', () => clearInterval(timer));
    for (const act of ACTS) document.addEventListener(act, end, {capture: true, passive: true, signal: over.signal});
    step();
  }

  /**
   * Welcomes a first visitor, once.
   *
   * @param {{promise: string, learn: string, image: string}} texts
   * @param {number} current number of the block on the screen
   */
  return (texts, current) => {
    if (!waits) return;
    waits = false;
    writeStored(VISITED, true);
    addPromise(picture, texts);
    if (!isStill()) run(current);
  };
}
