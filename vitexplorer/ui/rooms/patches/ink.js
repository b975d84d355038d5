// Canvases that are sharp on every screen, and outlines that are visible on every background.

/** Screen pixels per CSS pixel. */
export const screenScale = () => window.devicePixelRatio || 1;

/**
 * Sets the backing store to the canvas's size on the screen and clears it.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {DOMRect} [box] its place on the page
 * @returns {CanvasRenderingContext2D | null} null while it is hidden
 */
export function sharp(canvas, box = canvas.getBoundingClientRect()) {
  const scale = screenScale();
  const width = Math.round(box.width * scale);
  const height = Math.round(box.height * scale);
  if (!width || !height) return null;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
  const pen = canvas.getContext('2d');
  pen.clearRect(0, 0, width, height);
  return pen;
}

/**
 * Draws a white frame between black ones around a square.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} y
 * @param {number} side
 * @param {boolean} [thin]
 */
export function outline(pen, x, y, side, thin = false) {
  const scale = screenScale();
  const out = (thin ? 0.5 : 2) * scale;
  for (const [width, colour] of /** @type {[number, string][]} */ (
    thin
      ? [
          [3, '#000'],
          [1.2, '#fff'],
        ]
      : [
          [6, '#000'],
          [3, '#fff'],
        ]
  )) {
    pen.lineWidth = width * scale;
    pen.strokeStyle = colour;
    pen.strokeRect(x - out, y - out, side + 2 * out, side + 2 * out);
  }
}

/**
 * Makes a canvas of the size of the pixels.
 *
 * @param {ImageData} data
 */
export function canvasOf(data) {
  const canvas = document.createElement('canvas');
  Object.assign(canvas, {width: data.width, height: data.height});
  canvas.getContext('2d').putImageData(data, 0, 0);
  return canvas;
}
