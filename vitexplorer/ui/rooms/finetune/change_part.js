// Title of the panel that shows changes by fine-tuning.

import {setText} from '../../kit/dom.js';

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({part, props}) {
  return () => {
    if (!props.value) return;
    setText(part('h3'), props.value.title);
    setText(part('p'), props.value.beside);
  };
}
