// List of earlier trainings. The delete button asks for confirmation in its own text.

import {make, refill} from '../../kit/dom.js';

/** @typedef {{run: string, text: string, begun: number, running: boolean}} OldTraining begun: seconds since 1970 */

/** @param {number} begun */
function moment(begun) {
  const language = document.documentElement.lang || undefined;
  return begun ? new Date(1000 * begun).toLocaleString(language, {dateStyle: 'medium', timeStyle: 'short'}) : '';
}

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, props, trigger}) {
  const list = root.querySelector('ul');

  /**
   * @param {OldTraining} training
   * @param {Record<string, string>} words
   */
  function removing({run, running}, words) {
    let sure = false;
    const ask = (again) => {
      sure = again;
      button.textContent = again ? words.runs_sure : words.runs_delete;
    };
    const button = make('button.delete', {disabled: running}, words.runs_delete);
    button.addEventListener('click', () => {
      if (sure) trigger('remove', {run});
      else ask(true);
    });
    button.addEventListener('blur', () => ask(false));
    return button;
  }

  function row(training, {open: opened, words}) {
    const {run, text, begun} = training;
    const reopen = () => trigger('reopen', {run});
    return make(
      'li',
      {dataset: {run}},
      make('span', moment(begun)),
      make('span.text', text),
      make('button', {disabled: run === opened, onclick: reopen}, words.runs_open),
      removing(training, words),
    );
  }

  function show() {
    const value = props.value;
    if (!value?.words?.runs_title) return;
    const {words, trainings} = value;
    const none = make('li', words.runs_none);
    root.querySelector('summary').textContent = `${words.runs_title} (${trainings.length})`;
    refill(list, ...(trainings.length ? trainings.map((one) => row(one, value)) : [none]));
    root.dataset.count = trainings.length;
  }

  return show;
}
