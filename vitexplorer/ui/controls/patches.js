// Control to hide patches by painting on the picture; every stroke can be undone. Where other controls choose the
// patches as long as none are painted, painting begins with their choice.

import {filled, make} from '../kit/dom.js';
import {readPatches, writePatches} from '../kit/grid.js';
import {history} from './history.js';
import {paintingBoard} from './patch_board.js';

/** @typedef {{hidden: Set<number>, written: string}} Painted `written` is empty where other controls choose patches */

/** @type {import('./form.js').Draw} */
export function draw({label, board, words, more}, {image, settled, asked, disable}) {
  const others = more.instead_of ?? [];
  const all = board.rows * board.cols;
  let emptied = -1; // number of the latest question when all patches were shown again: its answer is ignored
  /** @type {ReturnType<typeof history<Painted>>} */
  const past = history({hidden: new Set(), written: ''});

  const {sheet, ...painting} = paintingBoard({
    board,
    image,
    label,
    most: others.length ? all - 1 : all,
    begun: () => say(''),
    full: () => say(words.full),
    painted: count,
    settled: (hidden) => take({hidden: new Set(hidden), written: writePatches(hidden, board)}),
    walked([row, col], isHidden) {
      here.textContent = `${filled(words.patch, {row, col})}: ${isHidden ? words.hidden : words.visible}`;
    },
  });
  const button = (text, onclick, options = {}) => make('button', {onclick, ...options}, text);
  const none = button(words.none, () => take({hidden: new Set(), written: ''}));
  const release = others.length ? button(words.release, letGo) : null;
  const undo = button(words.undo, () => go(past.undo), {title: `${words.undo} (Ctrl+Z)`});
  const redo = button(words.redo, () => go(past.redo), {title: `${words.redo} (Ctrl+Shift+Z)`});
  const total = make('output');
  const remark = make('p.remark', {role: 'status'});
  const help = make('p.help', {id: `vx-${Math.random().toString(36).slice(2)}`}, words.help);
  const here = make('span.unseen', {attributes: {'aria-live': 'polite'}});
  sheet.setAttribute('aria-describedby', help.id);
  const element = make(
    'div.vx-painter.vx-large',
    sheet,
    make('div.about', make('strong', label), total, make('div.buttons', none, release, undo, redo), remark, help, here),
  );

  const say = (text) => {
    remark.textContent = text;
  };

  function count(hidden) {
    total.textContent = filled(words.count, {hidden: hidden.size, all, share: Math.round((100 * hidden.size) / all)});
    element.dataset.hidden = hidden.size;
  }

  function show() {
    const {hidden, written} = past.now();
    painting.show(hidden);
    count(hidden);
    none.disabled = hidden.size === 0;
    if (release) release.disabled = !written && hidden.size > 0;
    for (const {one, can} of [
      {one: undo, can: past.canUndo()},
      {one: redo, can: past.canRedo()},
    ]) {
      if (!can && document.activeElement === one) sheet.focus({preventScroll: true});
      one.disabled = !can;
    }
    for (const name of others) disable(name, Boolean(written));
  }

  // Where other controls choose, showing all patches is a start for painting and sends no question.
  function ask() {
    const {hidden} = past.now();
    show();
    if (hidden.size || !others.length) {
      settled();
      return;
    }
    emptied = asked();
    say(words.bare);
  }

  function take(painted) {
    past.take(painted);
    ask();
  }

  function go(step) {
    step();
    say('');
    ask();
  }

  function letGo() {
    say('');
    past.take({...past.now(), written: ''});
    show();
    settled();
  }

  element.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || painting.painting()) return;
    const key = event.key.toLowerCase();
    const again = key === 'y' || (key === 'z' && event.shiftKey);
    if (!again && key !== 'z') return;
    event.preventDefault();
    if (again ? past.canRedo() : past.canUndo()) go(again ? past.redo : past.undo);
  });

  return {
    element,
    value: () => past.now().written,
    // Shows the patches that the figure hides; without a figure, and during a gesture, the painted patches stay.
    answer({value, state}) {
      if (painting.painting()) return;
      if (emptied !== asked()) {
        const {hidden, written} = past.now();
        const answered = state.hidden
          ? new Set(state.hidden)
          : value || !others.length
            ? readPatches(value, board)
            : hidden;
        if (written === value) past.correct({hidden: answered, written});
        else past.restart({hidden: answered, written: value});
      }
      show();
    },
  };
}
