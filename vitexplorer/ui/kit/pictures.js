// The picture of what is on the stage, for whoever wants to keep it: a component that shows one answers `vx-picture`.

const WIDTH = 1280;  // pixels of a kept picture
const QUALITY = 0.85;

/** @typedef {CustomEvent<{give: (picture: Promise<Blob>) => void}>} Asking */

/**
 * A component offers its picture while it can be seen.
 *
 * @param {HTMLElement} root
 * @param {() => Promise<Blob> | null} picture null where there is none at the moment
 */
export function offersPicture(root, picture) {
  document.addEventListener('vx-picture', (event) => {
    const made = root.checkVisibility() ? picture() : null;
    if (made) /** @type {Asking} */ (event).detail.give(made);
  });
}

/**
 * The picture of the first component that can be seen and has one, as a data URL; empty for none.
 *
 * @returns {Promise<string>}
 */
export async function stagePicture() {
  /** @type {Promise<Blob>[]} */
  const given = [];
  document.dispatchEvent(new CustomEvent('vx-picture', {detail: {give: (picture) => given.push(picture)}}));
  if (!given.length) return '';
  const bitmap = await createImageBitmap(await given[0]), scale = Math.min(1, WIDTH / bitmap.width);
  const canvas = document.createElement('canvas');
  Object.assign(canvas, {width: Math.round(bitmap.width * scale), height: Math.round(bitmap.height * scale)});
  const pen = canvas.getContext('2d');
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/jpeg', QUALITY);
}
