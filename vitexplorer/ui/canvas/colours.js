// Colour tables of 256 entries, and the scale from values to entries. SIGNED is the colour map for weights that may be
// negative: blue below 0, grey at 0, red above.

import {COLORMAPS} from './colormaps.js';

export const SIGNED = 'signed';
export const VEIL = [9, 12, 20];
const EASE = 0.7; // exponent below 1: half of the maximum is painted more than half as strong
const DROPPED = [128, 128, 128];
/** cmocean's balance, as in the saved figures */
const SIGNED_NODES = '171c42 293a8f 0b66bd 4590b9 8eb5c2 d2d8db e6d2cc d59d89 c46548 ac2b24 780e28 3c0911';
/**
 * Position of a value on the scale, which begins at 0, or at -top where weights may be negative.
 *
 * @param {number} value
 * @param {number} top value at the end of the scale
 * @param {string} colormap
 * @returns {number} 0-1
 */
export function heightOf(value, top, colormap) {
  const low = colormap === SIGNED ? -top : 0;
  return top > 0 ? Math.max(0, Math.min(1, (value - low) / (top - low))) : 0;
}

/**
 * Level of a value, 0-255.
 *
 * @param {number} value
 * @param {number} top
 * @param {string} colormap
 */
export function levelOf(value, top, colormap) {
  return Math.round(255 * heightOf(value, top, colormap));
}

/** The 256 colours of a map as [red, green, blue], 0-255. */
export const rgbTable = (() => {
  const tables = new Map();
  return (name) => {
    if (!tables.has(name)) {
      const colours = (name === SIGNED ? SIGNED_NODES : COLORMAPS[name]).split(' ');
      const nodes = colours.map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
      tables.set(
        name,
        Array.from({length: 256}, (_, i) => {
          const at = (i / 255) * (nodes.length - 1);
          const low = Math.min(nodes.length - 2, Math.floor(at));
          const part = at - low;
          return nodes[low].map((value, c) => Math.round(value + (nodes[low + 1][c] - value) * part));
        }),
      );
    }
    return tables.get(name);
  };
})();

/** Strength of a level, 0-255, whatever its sign: 0-1. */
function strengthOf(colormap, level) {
  return colormap === SIGNED ? Math.abs(level - 127.5) / 127.5 : level / 255;
}

/**
 * Colour of a level over the image. In an overlay a patch without attention is transparent. `Scale.over_a_picture` has
 * the same rule for saved figures.
 *
 * @param {string} mode overlay, map or reveal
 * @param {string} colormap
 * @param {number} opacity 0-1
 * @param {number} level 0-255
 * @returns {number[]} red, green, blue 0-255, and opacity 0-1
 */
export function paintOf(mode, colormap, opacity, level) {
  const strength = strengthOf(colormap, level);
  if (mode === 'reveal') return [...VEIL, opacity * (1 - strength)];
  return [...rgbTable(colormap)[level], mode === 'map' ? 1 : opacity * strength ** EASE];
}

/** Colour of a patch that the mass mask drops. */
export function paintOfDropped(mode, opacity) {
  if (mode === 'reveal') return [...VEIL, opacity];
  return [...DROPPED, mode === 'map' ? 1 : 0];
}

/** The 256 colours of a mode, and the colour of dropped patches, as 32-bit words of an ImageData. */
export const pixelTable = (() => {
  const tables = new Map();
  const probe = new Uint8ClampedArray(4);
  const word = new Uint32Array(probe.buffer);
  /** @param {number[]} paint */
  const pack = ([red, green, blue, alpha]) => {
    probe.set([red, green, blue, 255 * alpha]);
    return word[0];
  };
  return (mode, colormap, opacity) => {
    const name = `${mode} ${colormap} ${opacity}`;
    if (!tables.has(name)) {
      if (tables.size > 32) tables.clear();
      tables.set(name, {
        levels: Uint32Array.from({length: 256}, (_, level) => pack(paintOf(mode, colormap, opacity, level))),
        dropped: pack(paintOfDropped(mode, opacity)),
      });
    }
    return tables.get(name);
  };
})();

/** Colour bar of a mode: [red, green, blue] for each level. */
export function barOf(mode, colormap) {
  if (mode !== 'reveal') return rgbTable(colormap);
  return Array.from({length: 256}, (_, level) => rgbTable('greys')[Math.round(255 * strengthOf(colormap, level))]);
}
