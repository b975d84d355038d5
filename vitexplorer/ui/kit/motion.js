// Motion of the page: what changes blends from what it was, in 300 ms. Any press ends it, and where the reader prefers
// less motion there is none.

import {make} from './dom.js';

const LENGTH = 300; // ms
const SPREAD = 150; // ms between the first and the last of several elements

const running = /** @type {Set<() => void>} */ (new Set()); // what ends each motion

export const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

function endAll() {
  for (const end of [...running]) end();
}

/**
 * Registers a motion; returns what ends it, once.
 *
 * @param {() => void} stop
 */
function begin(stop) {
  const end = () => {
    if (running.delete(end)) stop();
  };
  running.add(end);
  for (const act of ['pointerdown', 'keydown']) addEventListener(act, endAll, {capture: true}); // once, however often
  return end;
}

function animate(element, frames, options, ended = () => {}) {
  const animation = element.animate(frames, {duration: LENGTH, ...options});
  const end = begin(() => {
    animation.cancel();
    ended();
  });
  animation.onfinish = end;
  return end;
}

/**
 * Lays a copy of a canvas over it and lets the copy fade out, so that what is painted next blends in.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} [delay] ms before the copy begins to fade
 * @returns {() => void} ends it
 */
export function blend(canvas, delay = 0) {
  if (isStill() || !canvas.width || !canvas.height || !canvas.checkVisibility()) return () => {};
  const copy = make('canvas.fading', {width: canvas.width, height: canvas.height, ariaHidden: 'true'});
  copy.getContext('2d').drawImage(canvas, 0, 0);
  canvas.after(copy);
  return animate(copy, {opacity: [1, 0]}, {delay}, () => copy.remove());
}

/** Blends canvases, one a little after the other. @param {HTMLCanvasElement[]} canvases */
export function blendInTurn(canvases) {
  canvases.forEach((canvas, at) => blend(canvas, (SPREAD * at) / canvases.length));
}

/**
 * Calls back with a share that grows to 1, frame by frame.
 *
 * @param {(share: number) => void} show
 * @param {number} [length] ms
 * @returns {() => void} goes to the end at once
 */
export function grow(show, length = LENGTH) {
  if (isStill()) {
    show(1);
    return () => {};
  }
  const since = performance.now();
  const end = begin(() => {
    cancelAnimationFrame(frame);
    show(1);
  });
  const step = (now) => {
    const share = Math.max(0, (now - since) / length);
    if (share >= 1) return end();
    show(share * (2 - share)); // quick at first
    frame = requestAnimationFrame(step);
  };
  let frame = requestAnimationFrame(step);
  show(0);
  return end;
}

/**
 * Scrolls an element into the window: smoothly, or at once with reduced motion.
 *
 * @param {Element} element
 * @param {ScrollLogicalPosition} block
 */
export function bring(element, block) {
  element.scrollIntoView({block, behavior: isStill() ? 'auto' : 'smooth'});
}
