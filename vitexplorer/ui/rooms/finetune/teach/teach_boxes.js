// Boxes of examples: their pictures, and every way to add one.

import {filled, make, onFiles, refill} from '../../../kit/dom.js';

const HOLDS = [' ', 'Enter'];

/**
 * @typedef {{id: string, thumb: string}} Small
 * @typedef {{key: string, name: string, pictures: Small[]}} Box
 */

/**
 * @param {HTMLElement} root a list
 * @param {object} does
 * @param {(box: Box, name: string) => void} does.rename
 * @param {(box: Box) => void} does.remove
 * @param {(box: Box, picture: Small) => void} does.drop
 * @param {(box: Box, files: File[]) => void} does.add
 * @param {(box: Box) => void} does.hold
 * @param {(box: Box) => void} does.letGo
 */
export function boxesView(root, {rename, remove, drop, add, hold, letGo}) {
  /** Returns an example of a class; the boxes begin with different ones. */
  const exampleOf = (box, words) => {
    const examples = words.teach_examples.split(/, |、/);
    return examples[(Number(box.key) - 1) % examples.length];
  };
  /** Returns the display name, also of an unnamed box. */
  const titleOf = (box, words) => box.name || filled(words.teach_class, {number: box.key});

  function thumbnail(box, picture, number, words) {
    const label = filled(words.teach_drop, {number: number + 1, name: titleOf(box, words)});
    return make(
      'button.thumb',
      {title: label, ariaLabel: label, dataset: {id: picture.id}, onclick: () => drop(box, picture)},
      make('img', {src: picture.thumb, alt: ''}),
    );
  }

  function holding(box, words) {
    const button = make('button.hold', words.teach_hold);
    const end = () => letGo(box);
    button.addEventListener('pointerdown', (event) => {
      button.setPointerCapture(event.pointerId);
      hold(box);
    });
    for (const kind of ['pointerup', 'pointercancel', 'lostpointercapture', 'blur']) button.addEventListener(kind, end);
    button.addEventListener('keydown', (event) => {
      if (!HOLDS.includes(event.key)) return;
      event.preventDefault();
      if (!event.repeat) hold(box);
    });
    button.addEventListener('keyup', end);
    button.addEventListener('contextmenu', (event) => event.preventDefault()); // a long touch would open it
    return button;
  }

  function card(box, words) {
    const name = make('input', {
      type: 'text',
      value: box.name,
      placeholder: filled(words.teach_placeholder, {
        title: titleOf({...box, name: ''}, words),
        example: exampleOf(box, words),
      }),
      maxLength: 40,
      ariaLabel: words.teach_name,
    });
    const file = make('input', {type: 'file', accept: 'image/*', multiple: true});
    const gone = filled(words.teach_remove, {name: titleOf(box, words)});
    const node = make(
      'li.box',
      {dataset: {key: box.key, count: String(box.pictures.length)}},
      make(
        'div.row',
        name,
        make('span.count'),
        make('button.remove', {title: gone, ariaLabel: gone, onclick: () => remove(box)}, '×'),
      ),
      make('div.thumbs', {role: 'group', ariaLabel: titleOf(box, words)}),
      make('div.row', holding(box, words), make('label.button.add', make('span', words.teach_files), file)),
    );
    name.addEventListener('change', () => rename(box, name.value));
    onFiles(file, (files) => add(box, files));
    node.addEventListener('dragover', () => node.classList.add('over'));
    node.addEventListener('dragleave', () => node.classList.remove('over'));
    node.addEventListener('drop', () => node.classList.remove('over'));
    fill(node, box, words);
    return node;
  }

  function fill(node, box, words) {
    node.dataset.count = String(box.pictures.length);
    node.querySelector('.count').textContent = filled(words.teach_count, {count: box.pictures.length});
    const thumbs = box.pictures.map((picture, number) => thumbnail(box, picture, number, words));
    const hint = filled(words.teach_hint, {name: box.name || exampleOf(box, words)});
    const empty = box.pictures.length ? [] : [make('span.hint', hint)];
    refill(node.querySelector('.thumbs'), ...thumbs, ...empty);
  }

  return {
    titleOf,
    /** @param {Box[]} boxes */
    show(boxes, words) {
      refill(root, ...boxes.map((box) => card(box, words)));
    },
    /** Makes the button for pictures of one box stand out; undefined for none. @param {Box} [box] */
    suggest(box) {
      for (const node of root.querySelectorAll('.box'))
        node.querySelector('.add').classList.toggle('primary', node.dataset.key === box?.key);
    },
    /** Updates the pictures of one box in place, so that a held button stays. */
    showPictures(box, words) {
      const node = root.querySelector(`[data-key="${box.key}"]`);
      if (node) fill(node, box, words);
    },
  };
}
