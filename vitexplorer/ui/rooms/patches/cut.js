// Painting of the image cut into patches. Outlines follow the mouse, over a layer that only changes with the gap.

import {corner, cutOut, laidOut, patchAt} from './geometry.js';
import {outline, screenScale, sharp} from './ink.js';

/** @typedef {import('./geometry.js').Patch} Patch */

/**
 * @typedef {object} Scene content of the board
 * @property {any} value `BoardData`
 * @property {HTMLImageElement | null} image the pixels that the model saw, once decoded
 * @property {number} gap space between patches, in sides of a patch
 */

/** CSS pixels around the outermost patches, for an outline. */
const ROOM = 5;

/**
 * @param {HTMLCanvasElement} board
 * @param {Scene} scene
 */
export function cutImage(board, scene) {
  const layer = document.createElement('canvas');
  const layout = () => laidOut(scene.value, scene.gap, board.width, board.height, ROOM * screenScale());

  /** Paints the patches. */
  function paintLayer() {
    if (!sharp(board) || !scene.image) return;
    const pen = sharp(layer, board.getBoundingClientRect());
    const {rows, cols} = scene.value;
    const place = layout();
    if (scene.gap) {
      pen.imageSmoothingEnabled = place.side < 2 * scene.value.patch_size;
      for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) paintPatch(pen, place, {row, col});
    } else {
      pen.drawImage(scene.image, place.left, place.top, place.side * cols, place.side * rows);
      gridLines(pen, place);
    }
  }

  /** Rounds to whole pixels, so that a patch does not bleed into the gap. */
  function paintPatch(pen, place, patch) {
    const [x, y] = corner(place, patch).map(Math.round);
    const side = Math.max(1, Math.round(place.side));
    pen.drawImage(scene.image, ...cutOut(scene.value, scene.image, patch), x, y, side, side);
  }

  function gridLines(pen, {left, top, side, step}) {
    const {rows, cols} = scene.value;
    const scale = screenScale();
    const lines = new Path2D();
    const fine = side < 10 * scale;
    for (let col = 1; col < cols; col++) lines.rect(Math.round(left + col * step), top, 0, rows * side);
    for (let row = 1; row < rows; row++) lines.rect(left, Math.round(top + row * step), cols * side, 0);
    /** @type {[number, string][]} */
    const strokes = fine ? [] : [[3, 'rgba(0, 0, 0, 0.35)']];
    strokes.push([1, `rgba(255, 255, 255, ${fine ? 0.4 : 0.75})`]);
    for (const [width, colour] of strokes) {
      pen.lineWidth = width * scale;
      pen.strokeStyle = colour;
      pen.stroke(lines);
    }
  }

  /** Paints the patches with outlines around the current and the held one. */
  function paint(shown, kept) {
    const pen = sharp(board);
    if (!pen || !scene.image) return;
    if (layer.width !== board.width || layer.height !== board.height) paintLayer();
    pen.drawImage(layer, 0, 0);
    const place = layout();
    const elsewhere = kept.row !== shown.row || kept.col !== shown.col;
    if (elsewhere) outline(pen, ...corner(place, kept), place.side, true);
    outline(pen, ...corner(place, shown), place.side);
  }

  /**
   * @param {PointerEvent} event
   * @returns {Patch | null} the patch under the pointer
   */
  function under(event) {
    const box = board.getBoundingClientRect();
    const scale = board.width / box.width;
    return patchAt(layout(), scene.value, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  }

  return {paintLayer, paint, under};
}
