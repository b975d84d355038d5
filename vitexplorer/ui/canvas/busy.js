// A progress bar over the picture while data is loading; short loads show none.

import {setText} from '../kit/dom.js';
import {isStill} from '../kit/theme.js';

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
