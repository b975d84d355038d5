// Boards of patches on the picture that the model saw: to pick one patch, or to paint any. Both work by pointer, touch
// and keyboard.

import {make} from '../kit/dom.js';
import {ARROWS, isOn, line, nearest, patchAt} from '../kit/grid.js';

/** @typedef {import('../kit/grid.js').Board} Board */
/** @typedef {import('../kit/grid.js').At} At */

/** Makes a picture with its aspect ratio set before the image loads; patches are square. */
function picture(className, label, image, {rows, cols, covered: [tall, wide]}) {
  const style = {'aspect-ratio': String(cols / wide / (rows / tall))};
  return make(
    'div',
    {className: `vx-picture ${className}`, tabIndex: 0, role: 'application', style, attributes: {'aria-label': label}},
    make('img', {src: image, alt: '', draggable: false}),
  );
}

/** @returns {At} */
function pointedAt(event, box, board) {
  const {top, left, height, width} = box.getBoundingClientRect();
  return patchAt((event.clientY - top) / height, (event.clientX - left) / width, board);
}

/** All places of a pointer event: a busy browser merges several events into one, and lists them only on a secure page
 * (https or this machine). */
function pointsOf(event) {
  const points = event.getCoalescedEvents?.() ?? [];
  return points.length ? points : [event];
}

function putOnPatch(mark, [row, col], {rows, cols, covered: [tall, wide]}) {
  Object.assign(mark.style, {
    top: `${(100 * tall * row) / rows}%`,
    left: `${(100 * wide * col) / cols}%`,
    height: `${(100 * tall) / rows}%`,
    width: `${(100 * wide) / cols}%`,
  });
}

/** Draws the edges of all patches. */
function lines({rows, cols, covered: [tall, wide]}) {
  const style = {height: `${100 * tall}%`, width: `${100 * wide}%`, 'background-size': `${100 / cols}% ${100 / rows}%`};
  return make('div.lines', {style});
}

/**
 * Board to pick one patch: the one under the mouse, until a click holds it; where the answer takes a while
 * (`follows` is false), the clicked one.
 *
 * @param {{board: Board, image: string, label: string, picked: (at: At) => void, follows?: boolean,
 *   ruled?: boolean}} options `ruled` shows the edges of all patches
 */
export function pickingBoard({board, image, label, picked, follows = true, ruled = false}) {
  const box = picture('vx-picker', label, image, board);
  const mark = make('div.mark', {hidden: true});
  /** @type {At | null} */
  let here = null;
  let held = false;
  box.title = label;
  box.append(...(ruled ? [lines(board)] : []), mark);
  const go = (at) => picked(nearest(at, board));
  box.addEventListener('pointermove', (event) => {
    if (follows && !held && event.pointerType === 'mouse') go(pointedAt(event, box, board));
  });
  box.addEventListener('click', (event) => {
    held = follows && !held;
    box.classList.toggle('held', held || !follows);
    go(pointedAt(event, box, board));
  });
  box.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key];
    if (!step) return;
    event.preventDefault();
    const [row, col] = here ?? [0, 0];
    go([row + step[0], col + step[1]]);
  });
  return {
    box,
    /** @param {At | null} at place of the mark */
    show(at) {
      here = at;
      mark.hidden = at === null;
      if (at) putOnPatch(mark, at, board);
    },
  };
}

/**
 * Board to paint any patches. A gesture hides patches if its first patch was visible, otherwise it shows them.
 *
 * @param {object} options
 * @param {Board} options.board
 * @param {string} options.image
 * @param {string} options.label
 * @param {number} options.most patches that may be hidden
 * @param {() => void} options.begun called when a gesture begins
 * @param {() => void} options.full called when no more patches may be hidden
 * @param {(hidden: Set<number>) => void} options.painted called while painting
 * @param {(hidden: Set<number>) => void} options.settled called when a gesture with a change has ended
 * @param {(at: At, hidden: boolean) => void} options.walked called when the keyboard reaches or changes a patch
 */
export function paintingBoard({board, image, label, most, begun, full, painted, settled, walked}) {
  const {rows, cols, covered} = board;
  const [tall, wide] = covered;
  const sheet = picture('vx-sheet', label, image, board);
  const cursor = make('div.cursor');
  const cells = Array.from({length: rows * cols}, () => make('i'));
  sheet.append(
    make(
      'div.cells',
      {
        style: {
          height: `${100 * tall}%`,
          width: `${100 * wide}%`,
          'grid-template': `repeat(${rows}, 1fr) / repeat(${cols}, 1fr)`,
        },
      },
      ...cells,
    ),
    cursor,
  );
  /** @type {Set<number>} */
  const hidden = new Set();
  /** @type {{hides: boolean, at: At, changed: boolean} | null} */
  let gesture = null;
  /** @type {At} */
  let place = [Math.floor(rows / 2), Math.floor(cols / 2)];
  const number = ([row, col]) => row * cols + col;

  function mark(patch, hides) {
    hidden[hides ? 'add' : 'delete'](patch);
    cells[patch].classList.toggle('off', hides);
  }

  function dab(at) {
    const patch = number(at);
    if (!isOn(at, board) || hidden.has(patch) === gesture.hides) return;
    if (gesture.hides && hidden.size >= most) {
      full();
      return;
    }
    mark(patch, gesture.hides);
    gesture.changed = true;
  }

  function stroke(to) {
    for (const at of line(gesture.at, to)) dab(at);
    gesture.at = to;
    painted(hidden);
  }

  function begin(at) {
    gesture = {hides: !hidden.has(number(at)), at, changed: false};
    begun();
    stroke(at);
  }

  function end() {
    const {changed} = gesture;
    gesture = null;
    if (changed) settled(hidden);
  }

  function move(to) {
    place = nearest(to, board);
    putOnPatch(cursor, place, board);
  }

  sheet.addEventListener('pointerdown', (event) => {
    const at = pointedAt(event, sheet, board);
    if (!event.isPrimary || event.button || !isOn(at, board)) return;
    sheet.setPointerCapture(event.pointerId);
    move(at);
    begin(at);
  });
  sheet.addEventListener('pointermove', (event) => {
    if (!event.isPrimary) return;
    for (const point of pointsOf(event)) {
      const at = pointedAt(point, sheet, board);
      move(at);
      if (gesture && at.join() !== gesture.at.join()) stroke(at);
    }
  });
  for (const name of ['pointerup', 'pointercancel']) {
    sheet.addEventListener(name, (/** @type {PointerEvent} */ event) => {
      if (gesture && event.isPrimary) end();
    });
  }
  sheet.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key];
    if (gesture || (!step && event.key !== ' ')) return;
    event.preventDefault();
    if (step) move([place[0] + step[0], place[1] + step[1]]);
    else {
      begin(place);
      end();
    }
    walked(place, hidden.has(number(place)));
  });

  move(place);
  return {
    sheet,
    painting: () => gesture !== null,
    /** @param {Set<number>} wanted patches to hide */
    show(wanted) {
      for (const patch of hidden) if (!wanted.has(patch)) mark(patch, false);
      for (const patch of wanted) if (!hidden.has(patch)) mark(patch, true);
    },
  };
}
