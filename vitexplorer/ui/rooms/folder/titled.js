// Texts around a drawing: tooltips of marks, and title and caption of a saved chart.

import {measuring, SANS, svg, textLine, wrapped} from '../../kit/svg.js';

const MARGIN = 24;

/**
 * Adds a tooltip to a mark.
 *
 * @param {SVGElement} mark
 * @param {string} words
 */
export function titled(mark, words) {
  mark.querySelector('title')?.remove();
  mark.append(svg('title', {}, words));
}

/**
 * @param {SVGElement} drawing
 * @param {{width: number, height: number}} size of it
 * @param {string} title
 * @param {string} says
 * @param {string} caption
 * @returns {SVGElement}
 */
export function onPaper(drawing, {width, height}, title, says, caption) {
  const parts = [];
  let y = MARGIN;
  const write = (words, size, more) => {
    for (const line of wrapped(words, width - 2 * MARGIN, measuring(`${size}px ${SANS}`))) {
      y += size + 6;
      parts.push(textLine(MARGIN, y, size, line, more));
    }
  };
  write(title, 20, {'font-weight': 700});
  write(says, 14, {fill: '#333'});
  y += 12;
  drawing.setAttribute('y', String(y));
  y += height;
  write(caption, 12, {fill: '#666'});
  const whole = {width, height: y + MARGIN};
  return svg(
    'svg',
    {...whole, viewBox: `0 0 ${whole.width} ${whole.height}`, 'font-family': SANS},
    svg('rect', {...whole, fill: '#fff'}),
    drawing,
    ...parts,
  );
}
