// Run of the pass: a number that grows from the image to the answer, and the moments that depend on it.

import {isStill} from '../kit/motion.js';

const SECONDS = 8;
const STEP_MS = 700; // a step where the reader prefers no motion

const ramp = (at, from, to) => Math.max(0, Math.min(1, (at - from) / (to - from)));
const eased = (share) => share * share * (3 - 2 * share);

/**
 * State of the picture at a moment: 0 is the image alone, 1 the tokens, 2 + b the end of block b, then the answer.
 *
 * @param {number} at
 * @param {number} blocks
 */
export function moment(at, blocks) {
  return {
    /** How far the patches are on their way from the image into the tokens, 0-1. */
    cut: eased(ramp(at, 0, 1)),
    /** Strength of the lines into a block, 0-1. */
    links: (block) => eased(ramp(at, block + 1, block + 1.5)),
    /** Strength of a block's tokens and numbers, 0-1. */
    tokens: (block) => eased(ramp(at, block + 1.4, block + 2)),
    /** Share of the bars of the answer, 0-1. */
    answer: eased(ramp(at, blocks + 1, blocks + 2)),
  };
}

/**
 * Player of the pass.
 *
 * @param {(at: number, isRunning: boolean) => void} show
 */
export function newPass(show) {
  let end = 2;
  let at = end;
  let last = 0;
  let frame = 0;
  let timer = 0;

  const isRunning = () => frame !== 0 || timer !== 0;

  function stop() {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    [frame, timer] = [0, 0];
  }

  function go(to) {
    at = Math.max(0, Math.min(end, to));
    if (at >= end) stop();
    show(at, isRunning());
  }

  function tick(now) {
    frame = requestAnimationFrame(tick);
    const passed = Math.min(100, now - last); // a hidden page has no frames
    last = now;
    go(at + ((passed / 1000) * end) / SECONDS);
  }

  function step() {
    timer = setTimeout(step, STEP_MS);
    go(Math.floor(at + 1e-6) + 1);
  }

  return {
    isRunning,
    get at() {
      return at;
    },
    /** Sets the number of blocks; the picture is whole. */
    begin(blocks) {
      stop();
      end = blocks + 2;
      go(end);
    },
    /** Stops where it is. */
    pause() {
      if (!isRunning()) return;
      stop();
      show(at, false);
    },
    /** Runs from here, or from the image where the pass is over. */
    run() {
      if (at >= end) at = 0;
      if (isStill()) timer = setTimeout(step, STEP_MS);
      else {
        last = performance.now();
        frame = requestAnimationFrame(tick);
      }
      show(at, true);
    },
    /** Goes to a moment and stays there. */
    to(moment) {
      stop();
      go(moment);
    },
    /** Goes one step on or back. */
    by(steps) {
      stop();
      go(steps > 0 ? Math.floor(at + 1e-6) + steps : Math.ceil(at - 1e-6) + steps);
    },
  };
}
