// The enlarged patch: its pixels, its three channels, and the values of the pixel under the mouse.

import {filled, make} from '../../kit/dom.js';
import {labelled, listed} from '../../kit/formats.js';
import {ARROWS} from '../../kit/grid.js';
import {cutOut, nearest} from './geometry.js';
import {canvasOf, outline, sharp} from './ink.js';

const TINTS = [
  [1, 0.25, 0.25],
  [0.2, 0.9, 0.3],
  [0.35, 0.5, 1],
]; // colours of full red, green and blue

/**
 * @param {HTMLElement} root of the board
 * @param {import('./cut.js').Scene} scene
 * @param {(text: string) => void} say speaks a text for screen readers
 */
export function magnifier(root, scene, say) {
  const zoom = /** @type {HTMLCanvasElement} */ (root.querySelector('.zoom'));
  const planes = [...root.querySelectorAll('.planes li')];
  const line = root.querySelector('.pixel');
  let pixel = {row: 0, col: 0}; // current pixel of the patch
  /** @type {ImageData | null} */
  let pixels = null; // pixels of the patch

  function read(patch) {
    const side = scene.value.patch_size;
    const canvas = make('canvas', {width: side, height: side});
    const pen = canvas.getContext('2d', {willReadFrequently: true});
    pen.imageSmoothingEnabled = false;
    pen.drawImage(scene.image, ...cutOut(scene.value, scene.image, patch), 0, 0, side, side);
    return pen.getImageData(0, 0, side, side);
  }

  /** Draws pixels as large squares over a whole canvas. */
  function enlarge(canvas, data) {
    const pen = sharp(canvas);
    if (!pen) return null;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(canvasOf(data), 0, 0, canvas.width, canvas.height);
    return pen;
  }

  /** Returns one channel of the patch in its colour; 0 is red. */
  function plane(channel) {
    const data = new ImageData(pixels.width, pixels.height);
    for (let at = 0; at < data.data.length; at += 4) {
      const value = pixels.data[at + channel];
      data.data.set([...TINTS[channel].map((tint) => tint * value), 255], at);
    }
    return data;
  }

  const square = () => ({rows: pixels.height, cols: pixels.width});

  /** @param {{row: number, col: number}} at place; beyond the patch the nearest pixel counts */
  function look(at) {
    pixel = nearest(square(), at);
    const side = pixels.width;
    const offset = 4 * (pixel.row * side + pixel.col);
    const pen = enlarge(zoom, pixels);
    if (pen) {
      const step = zoom.width / side;
      outline(pen, pixel.col * step, pixel.row * step, step, true);
    }
    planes.forEach((item, channel) => {
      item.querySelector('.value').textContent = String(pixels.data[offset + channel]);
    });
    line.textContent = filled(scene.value.words.pixel, pixel);
  }

  /** @param {import('./geometry.js').Patch} patch */
  function paint(patch) {
    if (!scene.image) return;
    pixels = read(patch);
    planes.forEach((item, channel) => enlarge(item.querySelector('canvas'), plane(channel)));
    look(pixel);
  }

  zoom.addEventListener('pointermove', (event) => {
    if (!pixels) return;
    const box = zoom.getBoundingClientRect();
    const {rows, cols} = square();
    const down = (event.clientY - box.top) / box.height;
    const right = (event.clientX - box.left) / box.width;
    look({row: Math.floor(down * rows), col: Math.floor(right * cols)});
  });
  zoom.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key];
    if (!step || !pixels) return;
    event.preventDefault();
    look({row: pixel.row + step[0], col: pixel.col + step[1]});
    say(labelled(line.textContent, listed(planes.map((item) => item.textContent))));
  });

  /** Selects the pixel in the middle. */
  function begin() {
    const middle = scene.value.patch_size >> 1;
    pixel = {row: middle, col: middle};
  }

  return {paint, plane, begin};
}
