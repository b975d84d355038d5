// Steps at the top of the room Fine-tune. They follow the `data-state` attributes of the parts below, and show one half
// of these parts: what is prepared (images and methods) or what comes of it (training and results).

import {make, setText} from '../../kit/dom.js';
import {bring} from '../../kit/motion.js';

const STATES = ['data-state', 'data-rows'];
const TRAINING = 2; // first step of the second half

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props}) {
  /** @type {HTMLElement} */
  const room = root.closest('.vx-finetune') ?? document.body;
  let current = 0;
  let isRunning = false;

  const halfOf = (number) => (number < TRAINING ? 'prepare' : 'outcome');

  function turn(number) {
    room.dataset.half = halfOf(number);
  }

  function go(key, number) {
    turn(number);
    const step = room.querySelector(`#vx-step-${key}`);
    if (step) bring(step, 'start');
  }

  // Turns to the half of a step that begins; the button that began it may disappear and leaves its focus to the step.
  function begin(number) {
    const isInside = room.contains(document.activeElement);
    turn(number);
    if (!isInside) return;
    part('[aria-current]').focus({preventScroll: true});
    bring(root, 'start');
  }

  function mark() {
    const data = (selector) => room.querySelector(selector)?.dataset ?? {};
    const training = data('.vx-progress').state;
    const at = stepOf({images: data('.vx-report').state, training, runs: Number(data('.vx-results').rows ?? 0)});
    root.querySelectorAll('button').forEach((button, number) => {
      // a class, not an observed attribute, which would fire the observer again
      button.classList.toggle('done', number < at);
      if (number === at) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    });
    const starts = training === 'running' && !isRunning;
    if (starts || halfOf(at) !== halfOf(current)) begin(at);
    isRunning = training === 'running';
    current = at;
  }

  function show() {
    const value = props.value;
    if (!value?.steps) return;
    setText(part('h2'), value.question);
    setText(part('p'), value.reading);
    part('nav').setAttribute('aria-label', value.name);
    part('ol').replaceChildren(
      ...value.steps.map(({key, label}, at) =>
        make('li', make('button', {onclick: () => go(key, at)}, make('span.number', String(at + 1)), label)),
      ),
    );
    mark();
  }

  turn(current);
  new MutationObserver(mark).observe(room, {subtree: true, childList: true, attributeFilter: STATES});
  return show;
}

/**
 * @typedef {object} Found states of the parts of the room
 * @property {string} [images] state of the report
 * @property {string} [training] state of the training
 * @property {number} runs number of finished runs
 */

/**
 * Returns the current step, counted from 0; earlier steps are done.
 *
 * @param {Found} found
 */
export function stepOf({images, training, runs}) {
  if (training === 'running') return 2;
  if (runs > 0) return 3;
  if (training && training !== 'empty') return 2; // stopped, or failed
  return images === 'ready' ? 1 : 0;
}
