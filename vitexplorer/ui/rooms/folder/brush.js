// Selection of a part of a chart: dragged with the pointer, or moved and widened with the keyboard.

import {rect} from '../../kit/svg.js';
import {ordered} from './scales.js';

const CLICK = 4; // pixels; a shorter drag is a click
const STEP = 0.02; // share of an axis that an arrow key moves

/**
 * @typedef {import('./plot.js').Plot & {offset: number}} Chart
 * @typedef {{x: [number, number], y: [number, number] | null}} Part
 */

/**
 * @param {HTMLElement} host focusable element of the chart
 * @param {object} does
 * @param {() => {chart: Chart, both: boolean, part: Part | null, step?: number} | null} does.current drawn chart;
 *   `both` for two axes, `step` the horizontal step of an arrow key
 * @param {(part: Part | null) => void} does.settled
 */
export function brushing(host, {current, settled}) {
  let from = /** @type {{x: number, y: number} | null} */ (null);
  let moving = /** @type {Part | null} */ (null);
  let waiting = 0;

  const place = ({clientX, clientY}) => {
    const box = host.getBoundingClientRect();
    const zoom = box.width / host.offsetWidth || 1;
    return {x: (clientX - box.left) / zoom, y: (clientY - box.top) / zoom - current().chart.offset};
  };

  function partOf(one, other) {
    const {chart, both} = current();
    const {x, y} = chart;
    return {x: ordered(x.from(one.x), x.from(other.x), x), y: both ? ordered(y.from(one.y), y.from(other.y), y) : null};
  }

  host.addEventListener('pointerdown', (event) => {
    if (!current() || event.button) return;
    from = place(event);
    host.setPointerCapture(event.pointerId);
  });
  host.addEventListener('pointermove', (event) => {
    if (!from || !current()) return;
    const to = place(event);
    if (Math.abs(to.x - from.x) < CLICK && Math.abs(to.y - from.y) < CLICK) return;
    moving = partOf(from, to);
    showPart(current().chart, moving);
  });
  for (const kind of ['pointerup', 'pointercancel']) {
    host.addEventListener(kind, () => {
      const part = moving;
      const was = from;
      from = moving = null;
      if (was && current() && kind === 'pointerup') settled(part);
    });
  }

  host.addEventListener('keydown', (event) => {
    const now = current();
    const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    if (!now || (!way && event.key !== 'Escape') || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    clearTimeout(waiting);
    moving = way ? moved(now, way, event.shiftKey) : null;
    showPart(now.chart, moving);
    const part = moving;
    waiting = setTimeout(
      () => {
        moving = null;
        settled(part);
      },
      way ? 250 : 0,
    );
  });

  /** @returns {Part} */
  function moved({chart: {x, y}, both, part, step = undefined}, [across, up], widens) {
    const before = moving ?? part;
    const stepX = step ?? STEP * (x.high - x.low);
    const stepY = STEP * (y.high - y.low);
    /** @type {Part} */
    const first = {x: middle(x, step ?? 0.2 * (x.high - x.low)), y: both ? middle(y, 0.2 * (y.high - y.low)) : null};
    if (!before) return first;
    const shift = (range, by, within) =>
      widens ? ordered(range[0], Math.max(range[0], range[1] + by), within) : slid(range, by, within);
    return {x: shift(before.x, across * stepX, x), y: both && before.y ? shift(before.y, up * stepY, y) : before.y};
  }
}

const middle = ({low, high}, size) =>
  /** @type {[number, number]} */ ([(low + high - size) / 2, (low + high + size) / 2]);

/** @returns {[number, number]} */
function slid([from, to], by, {low, high}) {
  const way = Math.max(low - from, Math.min(high - to, by));
  return [from + way, to + way];
}

/**
 * @param {Chart} chart
 * @param {Part | null} part
 */
export function showPart({node, marks, x, y, inner}, part) {
  node.querySelector('.brush')?.remove();
  if (!part) return;
  const [left, right] = part.x.map(x.to);
  const [bottom, top] = part.y ? part.y.map(y.to) : [inner.bottom, inner.top];
  marks.parentElement.append(
    rect(left, top, Math.max(2, right - left), Math.max(2, bottom - top), {
      class: 'brush',
      'pointer-events': 'none',
      fill: 'currentColor',
      'fill-opacity': 0.12,
      stroke: 'currentColor',
      'stroke-width': 1.5,
      'stroke-dasharray': '5 3',
    }),
  );
}
