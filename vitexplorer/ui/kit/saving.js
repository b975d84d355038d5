// What a visitor takes home: the one writer of SVG and PNG, and the names of files.

/**
 * A drawing as an SVG file, its text as text.
 *
 * @param {SVGElement} drawing with `width` and `height`
 * @returns {Blob}
 */
export function svgFile(drawing) {
  return new Blob([new XMLSerializer().serializeToString(drawing)], {type: 'image/svg+xml'});
}

/**
 * The same drawing as pixels.
 *
 * @param {SVGElement} drawing with `width` and `height`
 * @param {number} scale pixels to a unit
 * @returns {Promise<Blob>}
 */
export async function pngFile(drawing, scale) {
  const url = URL.createObjectURL(svgFile(drawing)), shot = new Image(), canvas = document.createElement('canvas');
  shot.src = url;
  await shot.decode();
  Object.assign(canvas, {width: Math.round(scale * shot.width), height: Math.round(scale * shot.height)});
  canvas.getContext('2d').drawImage(shot, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => { canvas.toBlob(done, 'image/png'); });
}

/**
 * Hands a file to the visitor.
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
 * A file name of words: letters, digits, dots and dashes.
 *
 * @param {(string | number)[]} parts empty ones are left out
 * @param {string} ending
 */
export function fileName(parts, ending) {
  const safe = parts.map((part) => String(part).replace(/[^\p{L}\p{N}._]+/gu, '-').replace(/^-+|-+$/g, ''));
  return `${safe.filter(Boolean).join('_')}.${ending}`;
}
