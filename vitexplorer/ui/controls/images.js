// Control for a few more images, examples or files, each with a button to remove it. Its value: their ids with commas.

import {filled, make, onFiles, setText} from '../kit/dom.js';
import {sendPicture} from '../kit/sending.js';

/** @type {import('./form.js').Draw} */
export function draw({label, words, more}, {settled, pending}) {
  const examples = new Map(more.images.map((one) => [one.id, one]));
  /** @type {Map<string, string>} addresses of uploaded images */
  const sent = new Map();
  let chosen = /** @type {string[]} */ ([]);
  let shown = '';
  const list = make('ul');
  const remark = make('p.remark', {role: 'status'});
  const file = make('input.unseen', {type: 'file', accept: 'image/*'});
  const offer = make(
    'div.offer',
    ...more.images.map(({id, title, image}) =>
      make(
        'button',
        {title, ariaLabel: title, dataset: {id}, onclick: () => add(id)},
        make('img', {src: image, alt: '', loading: 'lazy'}),
      ),
    ),
  );
  const adding = make(
    'details',
    make('summary', words.add),
    offer,
    make('label.send', file, make('span', words.choose_image)),
  );
  const element = make('fieldset.vx-images.vx-large', make('legend', label), list, adding, remark);

  function item(id) {
    const example = examples.get(id);
    const title = example?.title ?? words.own_image;
    const image = make('img', {src: example?.image ?? sent.get(id) ?? '', alt: title, title});
    return make(
      'li',
      {dataset: {id}},
      image,
      make(
        'button',
        {ariaLabel: filled(words.remove, {title}), onclick: () => take(chosen.filter((one) => one !== id))},
        '×',
      ),
    );
  }

  function show() {
    const isFull = chosen.length >= more.most;
    const now = JSON.stringify([chosen, [...sent]]);
    for (const button of offer.querySelectorAll('button')) button.hidden = chosen.includes(button.dataset.id);
    adding.hidden = isFull;
    setText(remark, isFull ? filled(words.full, {most: more.most}) : '');
    if (now === shown) return;
    shown = now;
    list.replaceChildren(...chosen.map(item));
  }

  function take(next) {
    chosen = next;
    show();
    settled();
  }

  function add(id) {
    if (!chosen.includes(id) && chosen.length < more.most) take([...chosen, id]);
  }

  onFiles(file, async ([picture]) => {
    const answer = await sendPicture(picture);
    if ('image' in answer) add(answer.image);
    else setText(remark, answer.refused || words.image_lost);
  });

  return {
    element,
    value: () => chosen.join(),
    answer({value, state}) {
      for (const [id, url] of Object.entries(state.thumbs)) sent.set(id, url);
      if (!pending()) chosen = value.split(',').filter(Boolean);
      show();
    },
  };
}
