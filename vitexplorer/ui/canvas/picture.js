// The picture: the image, the map over it, the window, the query and the key; the same on the screen and in a file.
// Under an overlay the image is grey, so that every colour belongs to the map.

import {make} from '../kit/dom.js';
import {levelOf, pixelTable, VEIL, wordOf} from './colours.js';
import {recent} from './fetching.js';
import {borderOf, outsideOf} from './grids.js';
import {interpolate} from './maps.js';

/**
 * @typedef {object} Scene
 * @property {HTMLImageElement | null} image
 * @property {import('./grids.js').Grid} grid of the keys
 * @property {Float32Array} map
 * @property {Uint8Array | null} mask
 * @property {import('./sharpening.js').Fine & {mask: Uint8Array | null} | null} fine map that is painted instead
 * @property {import('./grids.js').Window | null} window
 * @property {number} top value at the end of the scale
 * @property {string} mode overlay, map or reveal
 * @property {string} colormap
 * @property {number} opacity 0-1
 * @property {boolean} smooth
 * @property {Frame[]} frames
 * @property {number[][] | null} [paints] red, green, blue 0-255 and opacity 0-1 of each patch, in place of the scale's
 *
 * @typedef {{grid: import('./grids.js').Grid, cell: number, role: 'query' | 'key'}} Frame around a patch
 */

const SMOOTH_SAMPLES = 320;
const CACHED_BACKDROPS = 4;

/**
 * Writes colours into the pixels of a small canvas, one pixel per patch.
 *
 * @param {HTMLCanvasElement & {pixels?: ImageData, words?: Uint32Array}} canvas stores its pixels between calls
 * @param {number} width
 * @param {number} height
 * @param {(words: Uint32Array) => void} each
 */
export function putCells(canvas, width, height, each) {
  if (canvas.width !== width || canvas.height !== height || !canvas.pixels) {
    canvas.width = width;
    canvas.height = height;
    canvas.pixels = canvas.getContext('2d').createImageData(width, height);
    canvas.words = new Uint32Array(canvas.pixels.data.buffer);
  }
  each(canvas.words);
  canvas.getContext('2d').putImageData(canvas.pixels, 0, 0);
  return canvas;
}

/**
 * Draws the map of a scene on a small canvas: one pixel per patch or per cell of a sharpened map, or interpolated
 * samples.
 *
 * @param {Scene} scene
 * @param {HTMLCanvasElement & {values?: Float32Array}} canvas
 */
export function mapCanvas(scene, canvas) {
  const {window, top} = scene;
  const {grid, map, mask} = scene.fine ?? scene;
  const {rows, cols} = grid;
  if (scene.paints) {
    return putCells(canvas, cols, rows, (words) => {
      for (let i = 0; i < words.length; i++) words[i] = wordOf(scene.paints[i]);
    });
  }
  const table = pixelTable(scene.mode, scene.colormap, scene.opacity);
  const paint = (value, cell) => {
    if (window && !window.inside[cell]) return 0;
    return mask && !mask[cell] ? table.dropped : table.levels[levelOf(value, top, scene.colormap)];
  };
  if (!scene.smooth) {
    return putCells(canvas, cols, rows, (words) => {
      for (let i = 0; i < words.length; i++) words[i] = paint(map[i], i);
    });
  }
  const factor = Math.max(1, Math.min(24, Math.floor(SMOOTH_SAMPLES / Math.max(rows, cols))));
  const width = cols * factor;
  const length = width * rows * factor;
  const values = canvas.values?.length === length ? canvas.values : new Float32Array(length);
  canvas.values = interpolate(map, window?.inside, rows, cols, factor, values);
  return putCells(canvas, width, rows * factor, (words) => {
    for (let i = 0; i < words.length; i++) {
      const cell = Math.floor(i / width / factor) * cols + Math.floor((i % width) / factor);
      words[i] = paint(values[i], cell);
    }
  });
}

/** Draws one head's map for the strip, without the image; for a windowed query only its window. */
export function paintThumb(canvas, map, mask, top, colormap, rows, cols, window) {
  const table = pixelTable('map', colormap, 1);
  const cells = window?.local;
  putCells(canvas, window ? window.cols : cols, window ? window.rows : rows, (words) => {
    for (let i = 0; i < words.length; i++) {
      const cell = cells ? cells[i] : i;
      words[i] = mask && !mask[cell] ? table.dropped : table.levels[levelOf(map[cell], top, colormap)];
    }
  });
}

/** Area outside a window: colour and opacity of the ground and of the hatching. */
export const OUTSIDE = {
  overlay: {fill: VEIL, opacity: 0.6, line: [255, 255, 255], faint: 0.16},
  map: {fill: [212, 216, 223], opacity: 1, line: [0, 0, 0], faint: 0.13},
  reveal: {fill: VEIL, opacity: 0.92, line: [255, 255, 255], faint: 0.12},
};
export const HATCH = 9; // side of the hatching's tile, in widths of a thin line

/**
 * Strokes of the frames around a query (black and white dashes) and a key (a white line in black): boxes
 * [x, y, width, height] around the patch, thinner where patches are small.
 *
 * @param {{frames: Frame[]}} scene
 * @param {number} width
 * @param {number} height
 * @param {number} line width of a thin line
 */
export function outlinesOf({frames}, width, height, line) {
  return frames.flatMap(({grid: {cols, high, wide}, cell, role}) => {
    const w = width * wide;
    const h = height * high;
    const col = cell % cols;
    const row = Math.floor(cell / cols);
    const size = Math.max(1.5 * line, Math.min(3 * line, w / 6));
    const dash = Math.min(4 * line, w / 3);
    const x = Math.max(size / 2, col * w - size / 2);
    const right = Math.min(width - size / 2, (col + 1) * w + size / 2);
    const y = Math.max(size / 2, row * h - size / 2);
    const bottom = Math.min(height - size / 2, (row + 1) * h + size / 2);
    const strokes =
      role === 'key'
        ? [
            {colour: '#000', size: 1.2 * size, dash: []},
            {colour: '#fff', size: size / 2, dash: []},
          ]
        : [
            {colour: '#fff', size, dash: []},
            {colour: '#000', size, dash: [dash, dash]},
          ];
    return strokes.map((stroke) => ({box: [x, y, right - x, bottom - y], ...stroke}));
  });
}

/** Scales the image, in grey (luma of ITU-R BT.601) under an overlay. */
export function imageCanvas(image, width, height, mode) {
  const canvas = make('canvas', {width, height});
  const pen = canvas.getContext('2d');
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(image, 0, 0, width, height);
  if (mode === 'overlay') {
    const pixels = pen.getImageData(0, 0, width, height);
    const {data} = pixels;
    for (let i = 0; i < data.length; i += 4) {
      data[i] = data[i + 1] = data[i + 2] = 0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2];
    }
    pen.putImageData(pixels, 0, 0);
  }
  return canvas;
}

/** Makes a painter, which caches the last scaled images and its small canvases between frames. */
export function newPainter() {
  const cells = make('canvas');
  const backdrops = new Map();
  const hatches = new Map();
  const edges = new WeakMap();

  function edgesOf(window, rows, cols) {
    if (!edges.has(window))
      edges.set(window, {outside: outsideOf(window, rows, cols), border: borderOf(window, rows, cols)});
    return edges.get(window);
  }

  function backdropOf(image, width, height, mode) {
    const name = `${image.src} ${width} ${height} ${mode}`;
    return recent(backdrops, name, CACHED_BACKDROPS, () => imageCanvas(image, width, height, mode));
  }

  function hatch(ctx, colour, line) {
    const name = `${colour} ${line}`;
    if (!hatches.has(name)) {
      const size = Math.round(HATCH * line);
      const tile = make('canvas', {width: size, height: size});
      const pen = tile.getContext('2d');
      pen.strokeStyle = colour;
      pen.lineWidth = line;
      pen.beginPath();
      for (const shift of [-size, 0, size]) {
        pen.moveTo(shift, size);
        pen.lineTo(shift + size, 0);
      }
      pen.stroke();
      hatches.set(name, ctx.createPattern(tile, 'repeat'));
    }
    return hatches.get(name);
  }

  /**
   * Paints a scene on a canvas, which gets as many pixels as the screen has there.
   *
   * @param {HTMLCanvasElement} view
   * @param {{width: number, height: number}} box its size on the screen in CSS pixels
   * @param {Scene} scene
   */
  return function paint(view, box, scene) {
    const line = devicePixelRatio || 1; // width of a thin line
    const [width, height] = [Math.round(box.width * line), Math.round(box.height * line)];
    if (view.width !== width || view.height !== height) Object.assign(view, {width, height});
    const ctx = view.getContext('2d');
    const {image, grid, window, mode} = scene;
    const {rows, cols, high, wide} = grid;
    const w = width * wide;
    const h = height * high;
    ctx.clearRect(0, 0, width, height);
    if (image && mode !== 'map') ctx.drawImage(backdropOf(image, width, height, mode), 0, 0);
    const around = window && edgesOf(window, rows, cols);
    if (window) {
      const {fill, opacity, line: lines, faint} = OUTSIDE[mode];
      ctx.beginPath();
      for (const [x1, y1, x2, y2] of around.outside) ctx.rect(x1 * w, y1 * h, (x2 - x1) * w, (y2 - y1) * h);
      for (const style of [`rgba(${fill},${opacity})`, hatch(ctx, `rgba(${lines},${faint})`, line)]) {
        ctx.fillStyle = style;
        ctx.fill();
      }
    }
    ctx.imageSmoothingEnabled = scene.smooth;
    ctx.drawImage(mapCanvas(scene, cells), 0, 0, cols * w, rows * h); // a sharpened map covers the same patches
    if (window) {
      ctx.beginPath();
      for (const [x1, y1, x2, y2] of around.border) {
        ctx.moveTo(x1 * w, y1 * h);
        ctx.lineTo(x2 * w, y2 * h);
      }
      ctx.lineCap = 'square';
      for (const {style, size} of [
        {style: 'rgba(0,0,0,0.75)', size: 3.5},
        {style: '#fff', size: 1.5},
      ]) {
        ctx.strokeStyle = style;
        ctx.lineWidth = size * line;
        ctx.stroke();
      }
    }
    for (const {box, colour, size, dash} of outlinesOf(scene, width, height, line)) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = size;
      ctx.setLineDash(dash);
      const [x, y, across, down] = box;
      ctx.strokeRect(x, y, across, down);
    }
    ctx.setLineDash([]);
  };
}
