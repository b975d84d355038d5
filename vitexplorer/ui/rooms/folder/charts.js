// Drawings of the answers: a histogram, points of two numbers or of a map, cells of all heads.

import {filled} from '../../kit/dom.js';
import {rect, svg} from '../../kit/svg.js';
import {COLOURS, GREY, label, legend, plot} from './plot.js';
import {short} from './scales.js';

/** @typedef {{width: number, height: number}} Size */
/** @typedef {import('./plot.js').Ink} Ink */
/** @typedef {import('./plot.js').Plot} Plot */

/** Returns the colour of a name in a list; grey without one. */
const coloured = (names) =>
  names.map(({name, key}, at) => ({name, colour: key === '' || at >= COLOURS.length ? GREY : COLOURS[at]}));

function withLegend(names, {width, height}, ink, draw) {
  const keys = legend(names, width - 74, ink);
  const made = draw({width, height: height - keys.height});
  const whole = svg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    'aria-hidden': 'true',
    'font-family': made.node.getAttribute('font-family'),
  });
  keys.node.setAttribute('transform', 'translate(58 0)');
  made.node.setAttribute('y', String(keys.height));
  whole.append(keys.node, made.node);
  const {inner} = made;
  return {...made, node: whole, offset: keys.height, inner};
}

/**
 * @param {any} answer
 * @param {Size} size
 * @param {Ink} ink
 * @param {Record<string, string>} words
 * @returns {Plot & {offset: number}}
 */
export function histogram(answer, size, ink, words) {
  const {edges, series} = answer;
  const names = series.length > 1 ? coloured(series) : [];
  const totals = edges.slice(1).map((_, at) => series.reduce((sum, {counts}) => sum + counts[at], 0));
  return withLegend(names, size, ink, (room) => {
    const made = plot(
      room,
      {low: edges[0], high: edges[edges.length - 1], title: answer.title},
      {low: 0, high: Math.max(1, ...totals), title: words.chart_images},
      ink,
    );
    const tops = totals.map(() => 0);
    for (const [number, {counts}] of series.entries()) {
      for (const [at, count] of counts.entries()) {
        if (!count) continue;
        const left = made.x.to(edges[at]);
        const right = made.x.to(edges[at + 1]);
        const bottom = made.y.to(tops[at]);
        tops[at] += count;
        const top = made.y.to(tops[at]);
        const mark = rect(left + 0.5, top, Math.max(0.5, right - left - 1), Math.max(0.5, bottom - top), {
          fill: names[number]?.colour ?? ink.accent,
          'data-bin': at,
        });
        const bin = {low: short(edges[at]), high: short(edges[at + 1]), count: short(totals[at])};
        mark.append(svg('title', {}, filled(words.chart_bin, bin)));
        made.marks.append(mark);
      }
    }
    return made;
  });
}

/**
 * @param {any} answer
 * @param {Size} size
 * @param {Ink} ink
 * @param {boolean} [bare] true where the numbers of the axes have no meaning
 * @returns {Plot & {offset: number}}
 */
export function points(answer, size, ink, bare = false) {
  const names = coloured(answer.colours);
  const colours = names.map(({colour}) => colour);
  return withLegend(names, size, ink, (room) => {
    const wide = ({low, high, title}) => ({
      low: low - (high - low || 1) * 0.02,
      high: high + (high - low || 1) * 0.02,
      title,
    });
    const made = plot(room, wide(answer.x), wide(answer.y), ink, {bare});
    if (answer.grid) made.marks.append(density(answer.grid, made, ink));
    const radius = answer.points.length > 1500 ? 2 : answer.points.length > 400 ? 2.8 : 3.6;
    for (const [x, y, colour] of answer.points) {
      made.marks.append(
        svg('circle', {
          cx: made.x.to(x).toFixed(1),
          cy: made.y.to(y).toFixed(1),
          r: radius,
          fill: colours[colour] ?? ink.accent,
          'fill-opacity': 0.75,
        }),
      );
    }
    return made;
  });
}

/** Draws cells behind the points where there are more images than points, darker for more images. */
function density({counts, x, y}, made, ink) {
  const most = Math.max(1, ...counts.flat());
  const group = svg('g', {});
  for (const [row, line] of counts.entries()) {
    for (const [col, count] of line.entries()) {
      if (!count) continue;
      const left = made.x.to(x[col]);
      const right = made.x.to(x[col + 1]);
      const bottom = made.y.to(y[row]);
      const top = made.y.to(y[row + 1]);
      group.append(
        rect(left, top, right - left, bottom - top, {
          fill: ink.accent,
          'fill-opacity': (0.06 + 0.3 * Math.sqrt(count / most)).toFixed(3),
        }),
      );
    }
  }
  return group;
}

/** Viridis and a diverging scale, as a few colours between which the browser interpolates. */
export const RAMP = ['#440154', '#414487', '#2a788e', '#22a884', '#7ad151', '#fde725'];
const BOTH = ['#b35806', '#f1a340', '#f7f7f7', '#998ec3', '#542788'];

/** @param {string[]} ramp @param {number} share of the way along it */
export function mixed(ramp, share) {
  const at = Math.min(ramp.length - 1.001, Math.max(0, share) * (ramp.length - 1));
  const first = Math.floor(at);
  const parts = (hex) => [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
  const [from, to] = [parts(ramp[first]), parts(ramp[first + 1])];
  return `rgb(${from.map((one, part) => Math.round(one + (at - first) * (to[part] - one))).join(' ')})`;
}

/**
 * Draws a cell for each head; `both` centres the colours at zero.
 *
 * @param {{values: (number | null)[][], title: string}} answer blocks, then heads
 * @param {Size} size
 * @param {Ink} ink
 * @param {Record<string, string>} words
 * @param {boolean} [both]
 * @returns {{node: SVGElement, cells: SVGElement[]}}
 */
export function heads({values, title}, {width, height}, ink, words, both = false) {
  const all = values.flat().filter((value) => value !== null);
  const most = Math.max(...all.map(Math.abs)) || 1;
  const [low, high] = both ? [-most, most] : [Math.min(...all), Math.max(...all)];
  const rows = values.length;
  const cols = Math.max(...values.map((line) => line.length));
  const left = 58;
  const top = 14;
  const right = width - 16;
  const bottom = height - 84;
  const wide = (right - left) / cols;
  const tall = (bottom - top) / rows;
  const node = svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': 'inherit'});
  const cells = [];
  for (const [block, line] of values.entries()) {
    node.append(label(left - 8, top + (block + 0.5) * tall + 4.5, String(block), ink.muted, {'text-anchor': 'end'}));
    for (const [head, value] of line.entries()) {
      if (value === null) continue;
      const [x, y] = [left + head * wide + 1, top + block * tall + 1];
      const cell = rect(x, y, Math.max(1, wide - 2), Math.max(1, tall - 2), {
        rx: 3,
        fill: mixed(both ? BOTH : RAMP, (value - low) / (high - low || 1)),
        'data-block': block,
        'data-head': head,
      });
      cells.push(cell);
      node.append(cell);
    }
  }
  for (let head = 0; head < cols; head += Math.ceil(cols / 16))
    node.append(label(left + (head + 0.5) * wide, bottom + 17, String(head), ink.muted, {'text-anchor': 'middle'}));
  node.append(
    label((left + right) / 2, bottom + 36, words.chart_heads_axis, ink.text, {'text-anchor': 'middle'}),
    label(14, (top + bottom) / 2, words.chart_block, ink.text, {
      'text-anchor': 'middle',
      transform: `rotate(-90 14 ${(top + bottom) / 2})`,
    }),
  );
  node.append(...ramp(both ? BOTH : RAMP, {left, right, top: bottom + 50}, low, high, title, ink));
  return {node, cells};
}

/** Draws the colour bar with its two ends, and its name beside or below it. */
export function ramp(colours, {left, right, top}, low, high, title, ink, isBelow = false) {
  const steps = 40;
  const wide = Math.min(220, (right - left) / 2);
  const name = isBelow ? label(left, top + 46, title, ink.text) : label(left + wide + 12, top + 10, title, ink.text);
  const bars = Array.from({length: steps}, (_, at) =>
    rect(left + (wide * at) / steps, top, wide / steps + 0.5, 11, {fill: mixed(colours, at / (steps - 1))}),
  );
  return [
    ...bars,
    label(left, top + 26, short(low), ink.muted),
    label(left + wide, top + 26, short(high), ink.muted, {'text-anchor': 'end'}),
    name,
  ];
}
