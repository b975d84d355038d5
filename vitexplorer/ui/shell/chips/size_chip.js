// Size chip: the size of the model's input and the fit of the image to it, with the cost of other sizes.

import {make, refill, setText} from '../../kit/dom.js';
import {chip, segments} from './chip.js';

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const {sheet, say, close, onOpen} = chip(root);
  const input = part('.free input');

  function choose(size) {
    close();
    trigger('choose', {size});
  }

  function choice({value, label, grid, cost, refused}) {
    return make(
      'button',
      {
        disabled: Boolean(refused),
        title: refused,
        ariaPressed: String(value === props.value.size),
        onclick: () => choose(value),
      },
      make('b', label),
      make('span', grid),
      make('span.cost', cost),
    );
  }

  const ask = () => trigger('cost', {size: input.value});
  onOpen(ask);
  input.addEventListener('change', ask);
  part('.free').addEventListener('submit', (event) => {
    event.preventDefault();
    if (input.value) choose(input.value);
  });

  function showFits({fit, words}) {
    part('.fits legend').textContent = words.fit;
    const kinds = ['crop', 'squash', 'pad', 'native'].map((value) => ({value, label: words[`fit_${value}`]}));
    const choose = (kind) => trigger('choose', {fit: kind});
    refill(part('.fits .segments'), ...segments(`${sheet.id}-fit`, kinds, fit, choose));
  }

  function show() {
    const value = props.value;
    if (!value) return;
    const {words, title, note, sizes, step, says} = value;
    say(words.size, title, note);
    part('.sizes').hidden = !sizes.length;
    part('.sizes legend').textContent = words.size;
    refill(part('.choices'), ...sizes.map(choice));
    part('.free').hidden = !step;
    part('.free span').textContent = words.size_free;
    part('.free button').textContent = words.size_apply;
    input.min = input.step = String(step);
    setText(part('.note'), says);
    showFits(value);
    root.dataset.size = title;
  }

  return show;
}
