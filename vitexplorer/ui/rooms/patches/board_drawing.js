// SVG of the board for a slide, dark on white.

import {filled, make} from '../../kit/dom.js';
import {measuring, pixels, rect, SANS, svg, textLine, wrapped} from '../../kit/svg.js';
import {facts, length} from './facts.js';
import {corner, cutOut, excerpt, laidOut, numberOf, PREFIX, PREFIX_SIZE, patchOf, SIZE, TILE} from './geometry.js';
import {canvasOf} from './ink.js';

/** @typedef {import('./cut.js').Scene} Scene */
/** @typedef {import('./geometry.js').Patch} Patch */

const WIDTH = 960;
const BOARD = 560;
const PANEL = 600;
const ZOOM = 300;
const MARGIN = 24;
const LINE = 19;
const SMALL = 13;
const SERIF = 'Cambria, "STIX Two Text", "Times New Roman", "Noto Serif", serif';

/** Draws a white frame between black ones around a patch. */
const ring = ([x, y], side) =>
  [
    [5, '#000'],
    [2.5, '#fff'],
  ].map(([width, stroke]) => rect(x - 1.5, y - 1.5, side + 3, side + 3, {fill: 'none', stroke, 'stroke-width': width}));

/** Draws pixels as squares. */
const squares = (canvas, [x, y], side) =>
  pixels(canvas, {x, y, width: side, height: side, style: 'image-rendering: pixelated'});

const group = (x, y, ...children) => svg('g', {transform: `translate(${x} ${y})`}, ...children);

/** Cuts out a part of the image at its own size. */
function part(image, x, y, width, height) {
  const canvas = make('canvas', {width, height});
  canvas.getContext('2d').drawImage(image, x, y, width, height, 0, 0, width, height);
  return canvas;
}

/** Draws the uncut image with its grid. */
function whole({rows, cols}, image, {left, top, side, step}) {
  const width = cols * side;
  const height = rows * side;
  const lines = [];
  for (let at = 1; at < cols; at++) lines.push(`M${left + at * step} ${top}v${height}`);
  for (let at = 1; at < rows; at++) lines.push(`M${left} ${top + at * step}h${width}`);
  return [
    pixels(part(image, 0, 0, image.naturalWidth, image.naturalHeight), {x: left, y: top, width, height}),
    svg('path', {d: lines.join(''), stroke: '#fff', 'stroke-opacity': 0.75, fill: 'none'}),
  ];
}

function boardParts({value, image, gap}, picked, height) {
  const place = laidOut(value, gap, BOARD, height);
  const all = Array.from({length: value.rows * value.cols}, (_, at) => patchOf(value, at));
  const cut = (patch) => squares(part(image, ...cutOut(value, image, patch)), corner(place, patch), place.side);
  return [...(gap ? all.map(cut) : whole(value, image, place)), ...ring(corner(place, picked), place.side)];
}

/** Draws the enlarged patch, its channels and its embedding; returns the drawing and its height. */
function patchParts({value, image}, picked, plane) {
  const side = (ZOOM - 24) / 3;
  const {title, index, sum, numbers} = facts(value, picked);
  const {words} = value;
  const channels = [words.red, words.green, words.blue].flatMap((name, channel) => {
    const x = channel * (side + 12);
    return [squares(canvasOf(plane(channel)), [x, 76 + ZOOM], side), textLine(x, 94 + ZOOM + side, SMALL, name)];
  });
  const parts = [
    textLine(0, 22, 20, title, {'font-weight': 600}),
    textLine(0, 48, 15, `${index} ${sum}`),
    squares(part(image, ...cutOut(value, image, picked)), [0, 64], ZOOM),
    ...channels,
    textLine(0, 130 + ZOOM + side, LINE, numbers, {'font-family': SERIF}),
  ];
  return {parts, height: 136 + ZOOM + side};
}

function prefixParts(name, index) {
  const x = index * PREFIX;
  const middle = {'text-anchor': 'middle'};
  const lines = name.split(' ');
  const frame = {x: x + 0.5, y: 0.5, width: PREFIX_SIZE - 1, height: SIZE - 1, rx: 4};
  return [
    svg('rect', {...frame, fill: '#eef', stroke: '#446', 'stroke-dasharray': '4 3'}),
    ...lines.map((line, at) =>
      textLine(x + PREFIX_SIZE / 2, SIZE / 2 + 4 + 14 * (at - (lines.length - 1) / 2), SMALL, line, middle),
    ),
    textLine(x + PREFIX_SIZE / 2, SIZE + 16, SMALL, String(index), middle),
  ];
}

function sequenceParts({value, image}, picked) {
  const {rows, cols, prefix_tokens: names} = value;
  const chosen = numberOf(value, picked);
  const middle = {'text-anchor': 'middle'};
  const tiles = excerpt(chosen, rows * cols).flatMap((patch, at) => {
    const x = names.length * PREFIX + at * TILE;
    if (patch === null) return [textLine(x + SIZE / 2, SIZE / 2 + 4, 16, '…', middle)];
    return [
      squares(part(image, ...cutOut(value, image, patchOf(value, patch))), [x, 0], SIZE),
      textLine(x + SIZE / 2, SIZE + 16, SMALL, String(names.length + patch), middle),
      ...(patch === chosen ? ring([x, 0], SIZE) : []),
    ];
  });
  return [textLine(0, -10, 15, length(value)), ...names.flatMap(prefixParts), ...tiles];
}

/**
 * Draws the whole picture.
 *
 * @param {Scene} scene with an image
 * @param {Patch} picked
 * @param {(channel: number) => ImageData} plane returns one channel of the patch
 * @returns {SVGElement}
 */
export function drawing(scene, picked, plane) {
  const {rows, cols, caption, words} = scene.value;
  const tall = Math.min(BOARD * 1.4, (BOARD * rows) / cols);
  const patch = patchParts(scene, picked, plane);
  const sequence = Math.max(tall, patch.height) + 44;
  const lines = caption.flatMap((line) => wrapped(line, WIDTH, measuring(`${SMALL}px ${SANS}`)));
  const first = sequence + SIZE + 46;
  const width = WIDTH + 2 * MARGIN;
  const height = first + LINE * lines.length + 2 * MARGIN;
  const viewBox = `${-MARGIN} ${-MARGIN} ${width} ${height}`;
  return svg(
    'svg',
    {viewBox, width, height, 'font-family': SANS},
    svg('title', {}, filled(words.board, scene.value)),
    svg('rect', {x: -MARGIN, y: -MARGIN, width, height, fill: '#fff'}),
    group(0, Math.max(0, patch.height - tall) / 2, ...boardParts(scene, picked, tall)),
    group(PANEL, 0, ...patch.parts),
    group(0, sequence, ...sequenceParts(scene, picked)),
    ...lines.map((line, at) => textLine(0, first + LINE * at, SMALL, line, {fill: '#444'})),
  );
}
