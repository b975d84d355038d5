// The page in a frame of another page, `?embed=1`: one figure or one step of the path, and a line that leads to the rest.

import {inAddress} from '../kit/address.js';

/** The page is laid out for a frame: a class of the root, so that it is there before the page is. */
export const isEmbedded = () => document.documentElement.classList.contains('vx-embedded');

export function embedIfAsked() {
  document.documentElement.classList.toggle('vx-embedded', inAddress('embed') === '1');
}

/**
 * The address of the same picture with the whole page around it, or without.
 *
 * @param {string} address
 * @param {boolean} embedded
 * @returns {string}
 */
export function addressFor(address, embedded) {
  const url = new URL(address);
  if (embedded) url.searchParams.set('embed', '1');
  else url.searchParams.delete('embed');
  return url.href;
}

/** Attributes hold text alone. */
const quoted = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');

/**
 * What is written into a page that shows the picture.
 *
 * @param {string} address of the page as it is
 * @param {string} title of what is shown, for those who do not see it
 * @returns {string} HTML
 */
export function frameCode(address, title) {
  return `<iframe src="${quoted(addressFor(address, true))}" title="${quoted(title)}" width="100%" height="480" style="border: 0" loading="lazy"></iframe>`;
}
