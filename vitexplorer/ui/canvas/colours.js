// Colour tables of 256 entries, and the scale from values to entries. SIGNED is the colour map for weights that may be
// negative: blue below 0, black at 0, the colours of inferno above.

export const SIGNED = 'signed';
export const VEIL = [9, 12, 20];
const EASE = 0.7; // exponent below 1: half of the maximum is painted more than half as strong
const DROPPED = [128, 128, 128];
/** cmocean's ice, backwards, and inferno, as in the saved figures */
const SIGNED_NODES = [
  'eafcfd c0e5e8 95cfd8 72b8cd 599fc4 4886bb 3e6db2 3e53a0 3a3c7d',
  '000004 1b0c41 4a0c6b 781c6d a52c60 cf4446 ed6925 fb9b06 f7d13d fcffa4',
].join(' ');
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

/**
 * Packs red, green, blue 0-255 and opacity 0-1 into a 32-bit word of an ImageData.
 *
 * @type {(paint: number[]) => number}
 */
export const wordOf = (() => {
  const probe = new Uint8ClampedArray(4);
  const word = new Uint32Array(probe.buffer);
  return ([red, green, blue, alpha]) => {
    probe.set([red, green, blue, 255 * alpha]);
    return word[0];
  };
})();

/** The 256 colours of a mode, and the colour of dropped patches, as 32-bit words of an ImageData. */
export const pixelTable = (() => {
  const tables = new Map();
  return (mode, colormap, opacity) => {
    const name = `${mode} ${colormap} ${opacity}`;
    if (!tables.has(name)) {
      if (tables.size > 32) tables.clear();
      tables.set(name, {
        levels: Uint32Array.from({length: 256}, (_, level) => wordOf(paintOf(mode, colormap, opacity, level))),
        dropped: wordOf(paintOfDropped(mode, opacity)),
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

/**
 * Perceptually uniform colour maps: every fifth entry and the last one.
 *
 * @type {Record<string, string>} hexadecimal colours of 52 even steps
 */
export const COLORMAPS = {
  viridis: [
    '440154 46085c 471063 481769 481d6f 482475 472a7a 46307e 453781 433d84 414287 3f4889 3d4e8a 3a538b',
    '38598c 355e8d 33638d 31688e 2e6d8e 2c718e 2a768e 297b8e 27808e 25848e 23898e 218e8d 20928c 1f978b',
    '1e9c89 1fa188 21a585 24aa83 28ae80 2eb37c 35b779 3dbc74 46c06f 50c46a 5ac864 65cb5e 70cf57 7cd250',
    '89d548 95d840 a2da37 b0dd2f bddf26 cae11f d8e219 e5e419 f1e51d fde725',
  ].join(' '),
  magma: [
    '000004 02020b 050416 090720 0e0b2b 140e36 1a1042 21114e 29115a 311165 390f6e 420f75 4a1079 52137c',
    '5a167e 621980 6a1c81 721f81 792282 812581 892881 912b81 992d80 a1307e aa337d b2357b ba3878 c23b75',
    'ca3e72 d2426f d9466b e04c67 e75263 ec5860 f1605d f4695c f7725c f97b5d fb8560 fc8e64 fd9869 fea16e',
    'feaa74 feb47b febd82 fec68a fecf92 fed89a fde2a3 fdebac fcf4b6 fcfdbf',
  ].join(' '),
  cividis: [
    '00224e 002656 002a5f 002d68 003070 083370 163770 203a6f 273e6e 2e416d 34456c 3a486c 3f4c6c 444f6c',
    '49536c 4e566c 535a6d 575d6d 5c616e 60646f 656870 696b71 6d6f72 727274 767676 7a7a78 7e7d78 838179',
    '888578 8d8878 928c78 969077 9b9476 a09875 a59c74 aaa073 afa471 b5a86f baac6d bfb06b c4b468 c9b965',
    'cfbd62 d4c15f dac65b dfca57 e5cf52 ead34c f0d846 f6dd3f fce236 fee838',
  ].join(' '),
  inferno: [
    '000004 02020c 050417 0a0722 10092d 160b39 1e0c45 260c51 2f0a5b 380962 400a67 490b6a 510e6c 59106e',
    '61136e 69166e 71196e 781c6d 801f6c 88226a 902568 982766 a02a63 a82e5f b0315b b73557 bf3952 c63d4d',
    'cc4248 d34743 d94d3d df5337 e45a31 e9612b ed6925 f1711f f47918 f78212 f98b0b fa9407 fb9d07 fca60c',
    'fcb014 fbba1f fac42a f8cd37 f6d746 f4e156 f2ea69 f2f27d f5f992 fcffa4',
  ].join(' '),
  greys: [
    '000000 070707 0e0e0e 131313 171717 1b1b1b 1f1f1f 232323 272727 2b2b2b 2f2f2f 343434 383838 3c3c3c',
    '414141 454545 4a4a4a 4e4e4e 535353 585858 5c5c5c 616161 666666 6b6b6b 707070 747474 797979 7e7e7e',
    '838383 888888 8d8d8d 939393 989898 9d9d9d a2a2a2 a7a7a7 adadad b2b2b2 b7b7b7 bdbdbd c2c2c2 c7c7c7',
    'cdcdcd d2d2d2 d8d8d8 dddddd e3e3e3 e8e8e8 eeeeee f4f4f4 f9f9f9 ffffff',
  ].join(' '),
};
