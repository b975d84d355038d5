// Numbers computed from a reading: fusion over heads, the mass mask, smoothing.

import {measure} from './payload.js';

export const FUSIONS = {
  mean: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
};

/**
 * Fuses all heads of a reading entry by entry, on decoded values.
 *
 * @param {import('./payload.js').Reading} reading
 * @param {string} how mean, max or min
 * @param {import('./payload.js').Head} into
 */
export function fuseHeads(reading, how, into) {
  const {heads} = reading;
  const count = heads.length;
  for (const part of ['map', 'prefix']) {
    const out = into[part];
    out.set(heads[0][part]);
    for (let h = 1; h < count; h++) {
      const values = heads[h][part];
      if (how === 'mean') for (let i = 0; i < out.length; i++) out[i] += values[i];
      else if (how === 'max') for (let i = 0; i < out.length; i++) out[i] = Math.max(values[i], out[i]);
      else for (let i = 0; i < out.length; i++) out[i] = Math.min(values[i], out[i]);
    }
    if (how === 'mean') for (let i = 0; i < out.length; i++) out[i] /= count;
  }
  into.patches =
    how === 'mean' ? FUSIONS.mean(heads.map((head) => head.patches)) : into.map.reduce((sum, share) => sum + share, 0);
  into.padding = FUSIONS[how](heads.map((head) => head.padding));
  into.error = FUSIONS[how === 'mean' ? 'mean' : 'max'](heads.map((head) => head.error));
  measure(into);
  return into;
}

/**
 * Mask of the patches that hold `keep` of the mass on patches (DINO, visualize_attention.py): sort ascending, keep
 * where the cumulative share exceeds 1 - keep. Equal values fall in the order of their index; weights below 0 hold
 * their magnitude.
 *
 * @param {Float32Array} map
 * @param {number} keep 0-1
 * @returns {Uint8Array | null} 1 for what is kept; null where nothing is dropped
 */
export function massMask(map, keep) {
  if (keep >= 1) return null;
  const sorted = Float32Array.from(map, Math.abs).sort();
  const mask = new Uint8Array(map.length);
  let total = 0;
  for (const value of sorted) total += value;
  let dropped = 0;
  let sum = 0;
  while (dropped < sorted.length) {
    sum += sorted[dropped];
    if (sum > (1 - keep) * total) break;
    dropped++;
  }
  if (dropped === sorted.length) return mask;
  const edge = sorted[dropped];
  let ties = dropped - sorted.indexOf(edge);
  for (let i = 0; i < map.length; i++) {
    const value = Math.abs(map[i]);
    mask[i] = value > edge || (value === edge && ties-- <= 0) ? 1 : 0;
  }
  return mask;
}

/**
 * Bilinear interpolation between patch centres with `factor` samples to a patch; beyond the outer centres the nearest
 * value counts, and patches outside a window are left out.
 *
 * @param {Float32Array} values
 * @param {Uint8Array | undefined} inside
 * @param {number} rows
 * @param {number} cols
 * @param {number} factor
 * @param {Float32Array} out
 */
export function interpolate(values, inside, rows, cols, factor, out) {
  const at = (cell) => (inside && !inside[cell] ? 0 : values[cell]);
  const here = (cell) => (inside && !inside[cell] ? 0 : 1);
  const width = cols * factor;
  for (let y = 0; y < rows * factor; y++) {
    const v = Math.min(rows - 1, Math.max(0, (y + 0.5) / factor - 0.5));
    const r = Math.min(rows - 1, v | 0);
    const fy = v - r;
    const top = r * cols;
    const bottom = Math.min(rows - 1, r + 1) * cols;
    for (let x = 0; x < width; x++) {
      const u = Math.min(cols - 1, Math.max(0, (x + 0.5) / factor - 0.5));
      const c = u | 0;
      const fx = u - c;
      const d = Math.min(cols - 1, c + 1);
      const mix = (of) =>
        (of(top + c) * (1 - fx) + of(top + d) * fx) * (1 - fy) + (of(bottom + c) * (1 - fx) + of(bottom + d) * fx) * fy;
      out[y * width + x] = inside ? mix(at) / Math.max(mix(here), 1e-9) : mix(at);
    }
  }
  return out;
}
