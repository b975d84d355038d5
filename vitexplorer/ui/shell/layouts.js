// The page embedded in another page, `?embed=1`: one figure or one step of the path, and a link to the whole page.

import {inAddress} from '../kit/address.js';

/** True if the page has the layout for a frame: a class of the root element, which exists before the page does. */
export const isEmbedded = () => document.documentElement.classList.contains('vx-embedded');

export function embedIfAsked() {
  document.documentElement.classList.toggle('vx-embedded', inAddress('embed') === '1');
}

/**
 * Returns the address of the same picture in the whole page, or in the embedded one.
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

/** Escapes a text for an HTML attribute. */
const escaped = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');

/**
 * Returns the HTML that embeds the picture in another page.
 *
 * @param {string} address current address of the page
 * @param {string} title title of the picture, for screen readers
 * @returns {string}
 */
export function frameCode(address, title) {
  const names = `src="${escaped(addressFor(address, true))}" title="${escaped(title)}"`;
  return `<iframe ${names} width="100%" height="480" style="border: 0" loading="lazy"></iframe>`;
}
