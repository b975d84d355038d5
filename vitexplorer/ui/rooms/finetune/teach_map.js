// Map of attention over its picture.

import {pixelTable, rgbTable} from '../../canvas/colours.js';
import {interpolate} from '../../canvas/maps.js';
import {percent} from '../../kit/formats.js';

const FACTOR = 12; // samples per side of a patch
const OPACITY = 0.7;
const COLORMAP = 'inferno';

/**
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasImageSource & {naturalWidth: number, naturalHeight: number}} picture as the model saw it
 * @param {{rows: number, cols: number, values: number[]}} map shares of attention
 */
export function paintMap(canvas, picture, {rows, cols, values}) {
  const pen = canvas.getContext('2d');
  const top = Math.max(...values);
  const [width, height] = [cols * FACTOR, rows * FACTOR];
  const smooth = interpolate(
    Float32Array.from(values),
    undefined,
    rows,
    cols,
    FACTOR,
    new Float32Array(width * height),
  );
  const {levels} = pixelTable('overlay', COLORMAP, OPACITY);
  const layer = new OffscreenCanvas(width, height);
  const pixels = Uint32Array.from(
    smooth,
    (value) => levels[top > 0 ? Math.round((255 * Math.max(0, value)) / top) : 0],
  );
  layer.getContext('2d').putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width, height), 0, 0);
  Object.assign(canvas, {width: 2 * picture.naturalWidth, height: 2 * picture.naturalHeight});
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  pen.drawImage(layer, 0, 0, canvas.width, canvas.height);
}

/** Colours from zero to the maximum, as a CSS gradient. */
export const ramp = () =>
  rgbTable(COLORMAP)
    .filter((_, i) => i % 15 === 0)
    .map((colour) => `rgb(${colour})`)
    .join(', ');

/** @param {number[]} values */
export const most = (values) => percent(Math.max(...values));
