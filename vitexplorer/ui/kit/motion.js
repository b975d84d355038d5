// Motion of the page: a changed picture blends from the earlier one in 300 ms. Any press ends it, and where the reader
// prefers less motion there is none.

import {make} from './dom.js';

const LENGTH = 300; // ms
const SPREAD = 150; // ms between the first and the last of several elements
const LONGEST = 500; // ms for which a map is waited for

const running = /** @type {Set<() => void>} */ (new Set()); // functions that end a motion

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

/**
 * Blends canvases from what they show into what is painted next. The owner paints them in each frame and then calls
 * `over`. There is no second element above them: for a browser that draws without a graphics card, that takes a frame.
 *
 * @param {() => void} repaint
 */
export function newBlending(repaint) {
  let earlier = /** @type {{canvas: HTMLCanvasElement, copy: HTMLCanvasElement, delay: number}[]} */ ([]);
  let since = 0; // ms
  let end = () => {};

  return {
    end: () => end(),
    /** Keeps what canvases show; one begins a little after the other. @param {HTMLCanvasElement[]} canvases */
    from(canvases) {
      end();
      earlier = canvases
        .filter(({width, height}) => width && height)
        .map((canvas, at, {length}) => ({canvas, copy: copyOf(canvas), delay: (SPREAD * at) / length}));
      since = performance.now();
      end = grow(
        (share) => {
          if (share === 1) earlier = [];
          repaint();
        },
        LENGTH + (canvases.length > 1 ? SPREAD : 0),
      );
    },
    /** Lays what is left of the earlier pictures over the new ones. */
    over() {
      for (const {canvas, copy, delay} of earlier) {
        const left = 1 - (performance.now() - since - delay) / LENGTH;
        const pen = canvas.getContext('2d');
        pen.save();
        pen.resetTransform();
        pen.globalAlpha = Math.min(1, Math.max(0, left));
        pen.drawImage(copy, 0, 0, canvas.width, canvas.height);
        pen.restore();
      }
    },
  };
}

/** Waits until the next frame is painted; a hidden page paints none. @returns {Promise<void>} */
export const painted = () =>
  new Promise((resolve) => {
    if (document.hidden) setTimeout(resolve);
    else requestAnimationFrame(() => setTimeout(resolve));
  });

/** Waits until the maps in sight are loaded and painted, at most for LONGEST. */
export async function mapsPainted() {
  const since = performance.now();
  const isLoading = () => [...document.querySelectorAll('[aria-busy="true"]')].some((part) => part.checkVisibility());
  while (isLoading() && performance.now() - since < LONGEST) await painted();
  await painted();
}

/** @param {HTMLCanvasElement} canvas */
function copyOf(canvas) {
  const copy = make('canvas', {width: canvas.width, height: canvas.height});
  copy.getContext('2d').drawImage(canvas, 0, 0);
  return copy;
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
