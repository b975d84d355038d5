// The heads of all blocks under mouse and keyboard: each says its number, and leads to its histogram.

import {filled} from '../kit/dom.js';
import {short} from './scales.js';
import {titled} from './titled.js';

/**
 * @param {HTMLElement} host of the drawing, which takes the focus
 * @param {object} does
 * @param {(block: number, head: number) => void} does.open
 * @param {(words: string) => void} does.say
 */
export function headCells(host, {open, say}) {
  let cells = /** @type {SVGElement[]} */ ([]), at = '', rest = '';
  const place = ({dataset}) => `${dataset.block},${dataset.head}`;

  function mark() {
    for (const cell of cells) {
      const isIt = place(cell) === at;
      cell.setAttribute('stroke', isIt ? 'currentColor' : 'none');
      cell.setAttribute('stroke-width', isIt ? '3' : '0');
      if (isIt) say(cell.querySelector('title').textContent);
    }
  }

  host.addEventListener('keydown', (event) => {
    if (!cells.length) return;
    const way = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
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
     * @param {any} answer
     * @param {Record<string, string>} words
     */
    show(drawn, {mean, low, high, says}, words) {
      [cells, rest] = [drawn, says];
      for (const cell of cells) {
        const {block, head} = cell.dataset, [row, col] = [Number(block), Number(head)];
        titled(cell, filled(words.chart_head_says, {block, head, mean: short(mean[row][col]), low: short(low[row][col]), high: short(high[row][col])}));
        cell.addEventListener('click', () => open(row, col));
        cell.addEventListener('pointerenter', () => say(cell.querySelector('title').textContent));
        cell.addEventListener('pointerleave', () => say(rest));
      }
      mark();
    },
    /** Another chart is there. */
    forget() { [cells, at] = [[], '']; },
  };
}
