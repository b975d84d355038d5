// Mean map of a view over the chosen images beside the map of one image, on one colour scale.

import {rect, svg} from '../../kit/svg.js';
import {mixed, RAMP, ramp} from './charts.js';
import {label} from './plot.js';

/**
 * @param {{mean: (number | null)[][], own: (number | null)[][] | null, title: string, names: string[]}} answer rows,
 *   then columns
 * @param {import('./charts.js').Size} size
 * @param {import('./plot.js').Ink} ink
 * @returns {{node: SVGElement, cells: SVGElement[]}} the cells of the mean
 */
export function heatMaps({mean, own, title, names}, {width, height}, ink) {
  const panels = own ? [mean, own] : [mean];
  const isNarrow = width < 480;
  const numbers = panels.flat(2).filter((value) => value !== null);
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  const node = svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': 'inherit'});
  const cells = [];
  const rows = mean.length;
  const cols = Math.max(...mean.map((line) => line.length));
  const room = (width - 32) / panels.length;
  const side = Math.max(1, Math.min((room - 16) / cols, (height - (isNarrow ? 110 : 92)) / rows));
  for (const [number, values] of panels.entries()) {
    const left = 16 + number * room + (room - side * cols) / 2;
    const top = 24;
    node.append(label(left, top - 8, names[number], ink.text));
    for (const [row, line] of values.entries()) {
      for (const [col, value] of line.entries()) {
        if (value === null) continue;
        const cell = rect(left + col * side, top + row * side, side + 0.3, side + 0.3, {
          fill: mixed(RAMP, (value - low) / (high - low || 1)),
          ...(number ? {} : {'data-block': row, 'data-head': col}),
        });
        if (!number) cells.push(cell);
        node.append(cell);
      }
    }
  }
  node.append(
    ...ramp(RAMP, {left: 16, right: width - 16, top: height - (isNarrow ? 52 : 34)}, low, high, title, ink, isNarrow),
  );
  return {node, cells};
}
