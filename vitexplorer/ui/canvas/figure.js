// The picture as a complete figure: title, map, colour bar, masses and provenance in one SVG.
//
// 640 units wide, dark on white whatever the page's theme.

import {measuring, pixels, rect, SANS, svg, textLine, wrapped} from '../kit/svg.js';
import {barOf, levelOf, paintOf, paintOfDropped} from './colours.js';
import {borderOf, outsideOf} from './grids.js';
import {HATCH, imageCanvas, mapCanvas, OUTSIDE, outlinesOf} from './picture.js';

const WIDTH = 640;
const MARGIN = 20;
const INNER = WIDTH - 2 * MARGIN;
const INK = '#111827';
const PALE = '#4b5563';

/**
 * @typedef {object} Figure
 * @property {import('./picture.js').Scene} scene
 * @property {string} title
 * @property {string[]} ticks at the ends of the colour bar and in its middle
 * @property {string} unit
 * @property {string[]} lines below; empty ones are left out
 * @property {string} warning on the picture, or empty
 * @property {{colour: string, text: string}[]} [legend] in place of the colour bar, for a scene with `paints`
 */

/**
 * @param {Figure} figure
 * @returns {SVGElement}
 */
export function drawing({scene, title, ticks, unit, lines, warning, legend}) {
  const parts = [];
  let y = MARGIN;
  const write = (text, size, weight, fill) => {
    for (const line of wrapped(text, INNER, measuring(`${weight} ${size}px ${SANS}`))) {
      parts.push(textLine(MARGIN, y + size, size, line, {'font-weight': weight, fill}));
      y += Math.round(size * 1.4);
    }
  };
  write(title, 19, 600, INK);
  y += 8;
  const {image, grid} = scene;
  const aspect = image ? image.naturalHeight / image.naturalWidth : grid.rows / grid.cols;
  const height = Math.round(INNER * aspect);
  parts.push(picture(scene, MARGIN, y, INNER, height));
  if (warning) parts.push(...band(warning, y + height));
  y += height + 12;
  if (legend) {
    for (const {colour, text} of legend) {
      parts.push(rect(MARGIN, y, 14, 14, {fill: colour}), textLine(MARGIN + 22, y + 12, 14, text, {fill: INK}));
      y += 22;
    }
    y += 8;
  } else {
    parts.push(...colourBar(scene, y), ...ticks.map((tick, i) => tickText(tick, i / (ticks.length - 1), y + 31)));
    parts.push(textLine(MARGIN + INNER / 2, y + 51, 13, unit, {'text-anchor': 'middle', fill: PALE}));
    y += 64;
  }
  for (const line of lines) if (line) write(line, 14, 400, PALE);
  const whole = {width: WIDTH, height: y + MARGIN - 6};
  const paper = svg('rect', {width: '100%', height: '100%', fill: '#fff'});
  return svg('svg', {...whole, viewBox: `0 0 ${whole.width} ${whole.height}`, 'font-family': SANS}, paper, ...parts);
}

/** A warning over the lower edge of the picture, which is at `bottom`. */
function band(warning, bottom) {
  const lines = wrapped(warning, INNER - 24, measuring(`600 14px ${SANS}`));
  const high = 20 * lines.length + 12;
  const top = bottom - high - 8;
  const style = {'font-weight': 600, fill: '#78350f'};
  return [
    rect(MARGIN + 8, top, INNER - 16, high, {fill: '#fef3c7'}),
    ...lines.map((line, i) => textLine(MARGIN + 20, top + 20 + 20 * i, 14, line, style)),
  ];
}

function colourBar({mode, colormap}, y) {
  const stops = barOf(mode, colormap)
    .filter((_, i) => i % 5 === 0)
    .map((colour, i) => svg('stop', {offset: ((5 * i) / 255).toFixed(4), 'stop-color': `rgb(${colour})`}));
  return [
    svg('defs', {}, svg('linearGradient', {id: 'bar'}, ...stops)),
    rect(MARGIN, y, INNER, 14, {fill: 'url(#bar)'}),
  ];
}

function tickText(tick, part, y) {
  const anchor = ['start', 'middle', 'end'][Math.round(2 * part)];
  return textLine(MARGIN + part * INNER, y, 13, tick, {'text-anchor': anchor, fill: INK});
}

const round = (value) => Number(value.toFixed(3));

/**
 * SVG of a scene: the lossless image, and a rectangle for each patch or the interpolated map as one image. An inner svg
 * clips patches that reach beyond the image.
 */
function picture(scene, x, y, width, height) {
  const {image, grid, window, mode} = scene;
  const {rows, cols, high, wide} = grid;
  const w = width * wide;
  const h = height * high;
  const place = (left, top, right, bottom) => ({
    x: round(left * w),
    y: round(top * h),
    width: round((right - left) * w),
    height: round((bottom - top) * h),
  });
  const whole = svg('svg', {x, y, width, height});
  if (image && mode !== 'map') {
    whole.append(pixels(imageCanvas(image, image.naturalWidth, image.naturalHeight, mode), {width, height}));
  }
  if (window)
    whole.append(
      ...veil(
        mode,
        outsideOf(window, rows, cols).map((box) => place(...box)),
      ),
    );
  whole.append(
    scene.smooth || scene.fine
      ? pixels(mapCanvas(scene, document.createElement('canvas')), place(0, 0, cols, rows))
      : svg('g', {'shape-rendering': 'crispEdges'}, ...patches(scene, place)),
  );
  if (window) whole.append(...border(borderOf(window, rows, cols), w, h));
  whole.append(...outlinesOf(scene, width, height, 1).map(outline));
  return whole;
}

function patches({grid: {cols}, map, mask, window, top, mode, colormap, opacity, paints}, place) {
  const found = [];
  map.forEach((value, i) => {
    if (window && !window.inside[i]) return;
    const isDropped = mask && !mask[i];
    const ofScale = () =>
      isDropped ? paintOfDropped(mode, opacity) : paintOf(mode, colormap, opacity, levelOf(value, top, colormap));
    const [red, green, blue, alpha] = paints?.[i] ?? ofScale();
    const row = Math.floor(i / cols);
    const col = i % cols;
    const style = {fill: `rgb(${red},${green},${blue})`, 'fill-opacity': round(alpha)};
    if (alpha > 0) found.push(svg('rect', {...place(col, row, col + 1, row + 1), ...style}));
  });
  return found;
}

/** Area outside the window: ground and hatching. */
function veil(mode, boxes) {
  const {fill, opacity, line, faint} = OUTSIDE[mode];
  const strokes = [-HATCH, 0, HATCH].map((shift) =>
    svg('line', {x1: shift, y1: HATCH, x2: shift + HATCH, y2: 0, stroke: `rgb(${line})`, 'stroke-opacity': faint}),
  );
  const tile = svg('pattern', {id: 'hatch', width: HATCH, height: HATCH, patternUnits: 'userSpaceOnUse'}, ...strokes);
  const ground = {'shape-rendering': 'crispEdges', fill: `rgb(${fill})`, 'fill-opacity': opacity};
  return [
    svg('defs', {}, tile),
    ...[ground, {fill: 'url(#hatch)'}].flatMap((style) => boxes.map((box) => svg('rect', {...box, ...style}))),
  ];
}

function border(lines, w, h) {
  const d = lines
    .map(([x1, y1, x2, y2]) => `M${round(x1 * w)} ${round(y1 * h)}L${round(x2 * w)} ${round(y2 * h)}`)
    .join('');
  const strokes = [
    {stroke: '#000', 'stroke-opacity': 0.75, 'stroke-width': 3.5},
    {stroke: '#fff', 'stroke-width': 1.5},
  ];
  return strokes.map((stroke) => svg('path', {d, ...stroke, 'stroke-linecap': 'square'}));
}

function outline({box: [x, y, width, height], colour, size, dash}) {
  return rect(round(x), round(y), round(width), round(height), {
    fill: 'none',
    stroke: colour,
    'stroke-width': round(size),
    'stroke-dasharray': dash.map(round).join(' ') || 'none',
  });
}
