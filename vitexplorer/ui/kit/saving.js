// Files that a visitor saves, SVG, PNG and CSV, with their names; and the picture of the stage for saved views.

import {make} from './dom.js';

/**
 * Returns a drawing as an SVG file; its text stays text.
 *
 * @param {SVGElement} drawing drawing with `width` and `height`
 * @returns {Blob}
 */
export function svgFile(drawing) {
  return new Blob([new XMLSerializer().serializeToString(drawing)], {type: 'image/svg+xml'});
}

/**
 * Returns a drawing as a PNG file.
 *
 * @param {SVGElement} drawing drawing with `width` and `height`
 * @param {number} scale pixels per unit
 * @returns {Promise<Blob>}
 */
export async function pngFile(drawing, scale) {
  const url = URL.createObjectURL(svgFile(drawing));
  const shot = new Image();
  shot.src = url;
  await shot.decode();
  const canvas = make('canvas', {width: Math.round(scale * shot.width), height: Math.round(scale * shot.height)});
  canvas.getContext('2d').drawImage(shot, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => {
    canvas.toBlob(done, 'image/png');
  });
}

/** Returns a drawing as a file. @param {SVGElement} drawing @param {string} format svg, png2 or png4 */
export async function drawingFile(drawing, format) {
  return format === 'svg' ? svgFile(drawing) : pngFile(drawing, format === 'png4' ? 4 : 2);
}

/** Returns a file of comma-separated values that Excel reads, too. @param {string} text */
export const csvFile = (text) => new Blob(['\ufeff', text], {type: 'text/csv'});

/** Puts a text in quotes for comma-separated values. @param {string} text */
export const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/**
 * Downloads a file to the visitor's disk.
 *
 * @param {Blob} file
 * @param {string} name
 */
export function saveFile(file, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/**
 * Makes a file name of letters, digits, dots and dashes.
 *
 * @param {(string | number)[]} parts parts of the name; empty ones are left out
 * @param {string} ending
 */
export function fileName(parts, ending) {
  const safe = parts.map((part) =>
    String(part)
      .replace(/[^\p{L}\p{N}._]+/gu, '-')
      .replace(/^-+|-+$/g, ''),
  );
  return `${safe.filter(Boolean).join('_')}.${ending}`;
}

const WIDTH = 1280; // largest width in pixels
const QUALITY = 0.85;

/** @typedef {CustomEvent<{give: (picture: Promise<Blob>) => void}>} PictureRequest */

/**
 * Makes a component offer its picture while it is visible.
 *
 * @param {HTMLElement} root
 * @param {() => Promise<Blob> | null} picture null if there is none at the moment
 */
export function offersPicture(root, picture) {
  document.addEventListener('vx-picture', (event) => {
    const offer = root.checkVisibility() ? picture() : null;
    if (offer) /** @type {PictureRequest} */ (event).detail.give(offer);
  });
}

/**
 * Returns the picture of the first visible component that has one, as a data URL; empty for none.
 *
 * @returns {Promise<string>}
 */
export async function stagePicture() {
  /** @type {Promise<Blob>[]} */
  const offers = [];
  document.dispatchEvent(new CustomEvent('vx-picture', {detail: {give: (picture) => offers.push(picture)}}));
  if (!offers.length) return '';
  const bitmap = await createImageBitmap(await offers[0]);
  const scale = Math.min(1, WIDTH / bitmap.width);
  const canvas = make('canvas', {width: Math.round(bitmap.width * scale), height: Math.round(bitmap.height * scale)});
  const pen = canvas.getContext('2d');
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/jpeg', QUALITY);
}
