// Axes of a survey's charts as SVG, the same on the page and in a file.

import {SANS, svg} from '../../kit/svg.js';
import {scale, short, ticks} from './scales.js';

/**
 * @typedef {object} Ink colours of a drawing
 * @property {string} text
 * @property {string} muted
 * @property {string} line
 * @property {string} accent
 * @property {string} paper
 */

/**
 * @typedef {object} Axis
 * @property {number} low
 * @property {number} high
 * @property {string} title
 * @property {number} [last] end of the axis, where it must reach beyond the data
 */

/**
 * @typedef {object} Plot
 * @property {SVGElement} node
 * @property {SVGElement} marks group for the marks
 * @property {import('./scales.js').Scale} x
 * @property {import('./scales.js').Scale} y
 * @property {{left: number, top: number, right: number, bottom: number}} inner
 */

/** Colours that colour-blind people can distinguish (Okabe and Ito 2008), and grey for everything else. */
export const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#7f6fc4', '#8a8f00'];
export const GREY = '#8b93a1';
export const FILE_INK = {text: '#111', muted: '#555', line: '#ddd', accent: '#4338ca', paper: '#fff'};

const SIZE = 13;
const LEFT = 58;
const BOTTOM = 44;
const TOP = 14;
const RIGHT = 16;

/** Makes the text of an axis or a cell. */
export function label(x, y, words, fill, more = {}) {
  return svg('text', {x, y, 'font-size': SIZE, fill, ...more}, words);
}

/**
 * @param {{width: number, height: number}} size
 * @param {Axis} across
 * @param {Axis} up
 * @param {Ink} ink
 * @param {{bare?: boolean}} [options] `bare` where the numbers of the axes have no meaning
 * @returns {Plot}
 */
export function plot({width, height}, across, up, ink, {bare = false} = {}) {
  const inner = {left: bare ? RIGHT : LEFT, top: TOP, right: width - RIGHT, bottom: height - (bare ? RIGHT : BOTTOM)};
  const x = scale(across.low, across.high, inner.left, inner.right);
  const y = scale(up.low, up.high, inner.bottom, inner.top);
  const marks = svg('g', {});
  const node = svg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    'font-family': SANS,
    'aria-hidden': 'true',
  });
  if (!bare) {
    for (const value of ticks(up.low, up.high, height / 60)) {
      node.append(
        svg('line', {x1: inner.left, x2: inner.right, y1: y.to(value), y2: y.to(value), stroke: ink.line}),
        label(inner.left - 8, y.to(value) + 4.5, short(value), ink.muted, {'text-anchor': 'end'}),
      );
    }
    for (const value of ticks(across.low, across.high, Math.max(3, width / 110))) {
      node.append(label(x.to(value), inner.bottom + 18, short(value), ink.muted, {'text-anchor': 'middle'}));
    }
    node.append(
      label((inner.left + inner.right) / 2, height - 6, across.title, ink.text, {'text-anchor': 'middle'}),
      label(14, (inner.top + inner.bottom) / 2, up.title, ink.text, {
        'text-anchor': 'middle',
        transform: `rotate(-90 14 ${(inner.top + inner.bottom) / 2})`,
      }),
    );
  }
  node.append(marks);
  return {node, marks, x, y, inner};
}

/**
 * Draws the names of the colours in lines that wrap.
 *
 * @param {{name: string, colour: string}[]} names
 * @param {number} width
 * @param {Ink} ink
 * @returns {{node: SVGElement, height: number}}
 */
export function legend(names, width, ink) {
  const node = svg('g', {});
  const step = 20;
  let x = 0;
  let y = 14;
  for (const {name, colour} of names) {
    const wide = 26 + 8 * [...name].reduce((sum, sign) => sum + (sign > '\u2e80' ? 1.7 : 1), 0);
    if (x && x + wide > width) [x, y] = [0, y + step];
    node.append(
      svg('rect', {x, y: y - 10, width: 12, height: 12, rx: 3, fill: colour}),
      label(x + 17, y, name, ink.text),
    );
    x += wide;
  }
  return {node, height: names.length ? y + 8 : 0};
}
