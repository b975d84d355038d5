// List of earlier trainings. The delete button asks for confirmation in its own text.

import {deleteButton, make, refill} from '../../../kit/dom.js';
import {moment} from '../../../kit/formats.js';

/** @typedef {{run: string, text: string, begun: number, running: boolean}} OldTraining begun: seconds since 1970 */

/** @param {import('../../../kit/widget.js').Gradio} gradio */
export function mount({root, props, trigger}) {
  const list = root.querySelector('ul');

  /** @param {OldTraining} training */
  function row({run, text, begun, running}, {open: opened, words}) {
    const reopen = () => trigger('reopen', {run});
    return make(
      'li',
      {dataset: {run}},
      make('span', moment(begun)),
      make('span.text', text),
      make('button', {disabled: run === opened, onclick: reopen}, words.runs_open),
      deleteButton(words.runs_delete, words.runs_sure, running, () => trigger('remove', {run})),
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
