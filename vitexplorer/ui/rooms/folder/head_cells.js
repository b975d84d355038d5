// Mouse and keyboard on the cells of a chart: a cell shows its number, and a head's cell opens its histogram.

import {ARROWS} from '../../kit/grid.js';
import {titled} from './titled.js';

/**
 * @param {HTMLElement} host focusable element of the drawing
 * @param {object} does
 * @param {(block: number, head: number) => void} does.open
 * @param {(words: string) => void} does.say
 */
export function headCells(host, {open, say}) {
  let cells = /** @type {SVGElement[]} */ ([]);
  let at = '';
  let rest = '';
  const place = ({dataset}) => `${dataset.block},${dataset.head}`;

  function mark() {
    for (const cell of cells) {
      const isIt = place(cell) === at;
      cell.setAttribute('stroke', isIt ? 'currentColor' : 'none');
      cell.setAttribute('stroke-width', isIt ? '3' : '0');
      if (!isIt) continue;
      cell.parentNode.append(cell); // above its neighbours
      say(cell.querySelector('title').textContent);
    }
  }

  host.addEventListener('keydown', (event) => {
    if (!cells.length) return;
    const way = ARROWS[event.key];
    const [block, head] = at ? at.split(',').map(Number) : [0, 0];
    if (way) {
      event.preventDefault();
      const next = at ? `${block + way[0]},${head + way[1]}` : '0,0';
      if (cells.some((cell) => place(cell) === next)) at = next;
      mark();
    } else if (event.key === 'Enter' && at) open(block, head);
  });

  return {
    /**
     * @param {SVGElement[]} drawn
     * @param {string} says text where no cell is selected
     * @param {(row: number, col: number) => string} tell
     */
    show(drawn, says, tell) {
      [cells, rest] = [drawn, says];
      for (const cell of cells) {
        const {block, head} = cell.dataset;
        const [row, col] = [Number(block), Number(head)];
        titled(cell, tell(row, col));
        cell.addEventListener('click', () => open(row, col));
        cell.addEventListener('pointerenter', () => say(cell.querySelector('title').textContent));
        cell.addEventListener('pointerleave', () => say(rest));
      }
      mark();
    },
    /** Call after a change of the chart. */
    forget() {
      [cells, at] = [[], ''];
    },
  };
}
