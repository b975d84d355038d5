// Picture of the stage, for saved views: a visible component that has one answers the event `vx-picture`.

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
  const canvas = document.createElement('canvas');
  Object.assign(canvas, {width: Math.round(bitmap.width * scale), height: Math.round(bitmap.height * scale)});
  const pen = canvas.getContext('2d');
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/jpeg', QUALITY);
}
