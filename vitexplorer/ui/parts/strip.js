// The strip of example images.

import {make} from '../kit/dom.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-strip'), row = root.querySelector('.row'), label = root.querySelector('p');

  function thumbnail({id, title, image}) {
    const pick = () => trigger('pick', {id});
    return make('button', {type: 'button', title, dataset: {id}, onclick: pick}, make('img', {src: image.url, alt: title}));
  }

  function show() {
    const value = props.value || {}, items = value.items || [];
    const titles = items.map((item) => item.title).join();
    label.textContent = value.label || '';
    row.setAttribute('aria-label', value.label || '');
    if (row.dataset.titles !== titles) {
      row.dataset.titles = titles;
      row.replaceChildren(...items.map(thumbnail));
    }
    for (const button of row.children) button.setAttribute('aria-pressed', String(button.dataset.id === value.chosen));
  }

  watch('value', show);
  show();
}
