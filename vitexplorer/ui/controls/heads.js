// Control for any heads of any blocks: a row of buttons for each block; the block's number switches all its heads.

import {filled, make} from '../kit/dom.js';

/** @type {import('./form.js').Draw} */
export function draw({label, words, more}, {settled}) {
  const counts = more.heads;
  const most = Math.max(...counts);
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  let off = new Set();

  function show(chosen) {
    off = chosen;
    for (const [name, button] of buttons) button.setAttribute('aria-pressed', String(off.has(name)));
  }

  function toggle(names) {
    const state = !names.every((name) => off.has(name));
    const chosen = new Set(off);
    for (const name of names) chosen[state ? 'add' : 'delete'](name);
    show(chosen);
    settled();
  }

  function pressable(text, title, className, names) {
    return make('button', {title, className, attributes: {'aria-label': title}, onclick: () => toggle(names)}, text);
  }

  const rows = counts.flatMap((count, block) => {
    const names = Array.from({length: count}, (_, head) => `${block}.${head}`);
    names.forEach((name, head) => {
      buttons.set(name, pressable(head, filled(words.head, {block, head}), '', [name]));
    });
    const absent = Array.from({length: most - count}, () => make('span'));
    const whole = pressable(block, filled(words.block, {block}), 'whole', names);
    return [whole, ...names.map((name) => buttons.get(name)), ...absent];
  });
  const grid = make(
    'div.vx-heads',
    {role: 'group', ariaLabel: label, style: {'grid-template-columns': `auto repeat(${most}, 26px)`}},
    ...rows,
  );
  return {
    element: make('div.vx-large', grid, make('p.help', words.help)),
    value: () => [...off].join('+'),
    answer: ({value}) => show(new Set(value.split('+').filter(Boolean))),
  };
}
