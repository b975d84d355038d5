// One block's attention as payload.py packs it, and what one query of it looks at, head by head.
//
// A token is an index into a patch grid (>= 0), -1 - i for prefix token i, PADDING, or, for a query, MEAN. Queries and
// keys may lie on two grids: maps, windows and masks are over the keys' one.

import {windowOf} from './windows.js';

const MAGIC = 0x32415856;
export const MEAN = -32767;
export const PADDING = -32768;

/**
 * @typedef {ReturnType<typeof decodePayload>} Payload
 *
 * @typedef {object} Head what one query looks at in one head, or in all of them fused
 * @property {Float32Array} map share on each patch of the keys' grid
 * @property {Float32Array} prefix share on each prefix token
 * @property {number} patches share on all patches
 * @property {number} padding share on padding
 * @property {number} max the map's maximum
 * @property {number} peak its largest magnitude; another one only where weights may be negative
 * @property {number} error how far off a weight may be for its 8 bits
 *
 * @typedef {object} Reading
 * @property {Head[]} heads
 * @property {import('./windows.js').Window | null} window null where every patch can be attended to
 */

/**
 * The packed bytes as typed arrays over the same memory. Throws where the bytes are no payload for these grids.
 *
 * @param {ArrayBuffer} buffer
 * @param {any} value what Python sent with them
 */
export function decodePayload(buffer, value) {
  const {rows, cols} = value.keys ?? value, {prefix, silent} = value, numPrefix = prefix.length;
  const [magic, windows, heads, queries, keys] = buffer.byteLength >= 20 ? new Uint32Array(buffer, 0, 5) : [];
  const tokens = 20 + 4 * windows * (keys + queries), numRows = windows * heads * queries;
  const total = tokens + numRows * (16 + keys);
  if (magic !== MAGIC || buffer.byteLength !== total || heads !== value.heads) throw new Error('not a packed attention');
  const payload = {
    windows, heads, queries, keys, numPrefix,
    rows, cols,
    cells: rows * cols,
    queryCells: value.rows * value.cols,
    positions: new Int32Array(buffer, 20, windows * keys),
    codes: new Int32Array(buffer, 20 + 4 * windows * keys, windows * queries),
    ends: new Float32Array(buffer, tokens, 2 * numRows),
    sums: new Float32Array(buffer, tokens + 8 * numRows, 2 * numRows),
    shares: new Uint8Array(buffer, tokens + 16 * numRows),
    index: new Map(),
    kept: new Map(),
  };
  payload.codes.forEach((code, i) => { if (code !== PADDING && !payload.index.has(code)) payload.index.set(code, i); });
  const outside = (token, limit) => token >= limit || (token < -numPrefix && token !== PADDING);
  if (payload.positions.some((key) => outside(key, payload.cells))
    || payload.codes.some((query) => query !== MEAN && outside(query, payload.queryCells))) {
    throw new Error('tokens outside the patch grid');
  }
  const numPatchQueries = [...payload.index.keys()].filter((code) => code >= 0).length;
  return {
    ...payload,
    numPatchQueries,
    partial: !silent.includes('patches') && numPatchQueries < payload.queryCells,
    prefixKeys: prefix.map((_, i) => payload.positions.includes(-1 - i)),
    signed: payload.ends.some((end, i) => i % 2 === 0 && end < 0),
  };
}

/**
 * Rows of several blocks, one after the other in one file, each with what is so of its block.
 *
 * @param {ArrayBuffer} buffer
 * @param {any} value with a `strip`
 */
export function decodeRows(buffer, value) {
  let at = 0;
  return value.strip.blocks.map((facts) => {
    const [, windows, heads, queries, keys] = new Uint32Array(buffer.slice(at, at + 20));
    const size = 20 + 4 * windows * (keys + queries) + windows * heads * queries * (16 + keys);
    const payload = decodePayload(buffer.slice(at, at + size), {...value, ...facts});
    at += size;
    return {facts, payload};
  });
}

/**
 * Whether a query's rows are here, or can be made of what is here.
 *
 * @param {Payload} payload
 * @param {number} code
 */
export function hasQuery(payload, code) {
  return payload.index.has(code) || (code === MEAN && payload.numPatchQueries === payload.queryCells);
}

/**
 * @param {Payload} payload
 * @returns {Reading}
 */
export function emptyReading(payload) {
  return {
    heads: Array.from({length: payload.heads}, () => ({
      map: new Float32Array(payload.cells), prefix: new Float32Array(payload.numPrefix),
      patches: 0, padding: 0, max: 0, peak: 0, error: 0,
    })),
    window: null,
  };
}

/**
 * What one query looks at. The reading is overwritten by the next call with the same `reading`.
 *
 * @param {Payload} payload
 * @param {number} code the query
 * @param {Reading} [reading] a place for the numbers
 * @returns {Reading}
 */
export function readQuery(payload, code, reading = emptyReading(payload)) {
  if (code === MEAN && !payload.index.has(MEAN)) return meanReading(payload);
  const at = payload.index.get(code), w = Math.floor(at / payload.queries), q = at % payload.queries;
  reading.heads.forEach((head, h) => {
    head.map.fill(0);
    head.prefix.fill(0);
    head.patches = head.padding = head.error = 0;
    addRow(payload, w, h, q, 1, head);
    measure(head);
  });
  reading.window = windowOf(payload, w);
  return reading;
}

/** Adds `weight` times one row to what `head` holds. */
function addRow(payload, w, h, q, weight, head) {
  const {keys, positions, shares, ends} = payload, row = (w * payload.heads + h) * payload.queries + q;
  const least = weight * ends[2 * row], unit = (weight * ends[2 * row + 1] - least) / 255, from = row * keys;
  const {map, prefix} = head;
  for (let k = 0; k < keys; k++) {
    const p = positions[w * keys + k], value = least + shares[from + k] * unit;
    if (p >= 0) map[p] += value;
    else if (p !== PADDING) prefix[-1 - p] += value;
  }
  head.patches += weight * payload.sums[2 * row];
  head.padding += weight * payload.sums[2 * row + 1];
  head.error += unit / 2;
}

/** The average of the rows of all patches, made once for each payload. */
function meanReading(payload) {
  if (!payload.kept.has('mean')) {
    const reading = emptyReading(payload);
    for (const [code, at] of payload.index) {
      if (code < 0) continue;
      const w = Math.floor(at / payload.queries), q = at % payload.queries;
      reading.heads.forEach((head, h) => addRow(payload, w, h, q, 1 / payload.queryCells, head));
    }
    reading.heads.forEach(measure);
    payload.kept.set('mean', reading);
  }
  return payload.kept.get('mean');
}

/**
 * The largest magnitude of what any query of the block gives to a patch, in any head; made once for each payload.
 *
 * @param {Payload} payload
 * @returns {number}
 */
export function blockMaximum(payload) {
  if (!payload.kept.has('maximum')) {
    let maximum = 0;
    const {windows, heads, queries, keys, positions, codes, shares, ends} = payload;
    for (let w = 0; w < windows; w++) {
      for (let row = w * heads * queries; row < (w + 1) * heads * queries; row++) {
        const least = ends[2 * row], largest = ends[2 * row + 1];
        if (Math.max(largest, -least) <= maximum || codes[w * queries + row % queries] === PADDING) continue;
        let low = 255, high = 0;
        for (let k = 0; k < keys; k++) {
          if (positions[w * keys + k] < 0) continue;
          const share = shares[row * keys + k];
          if (share > high) high = share;
          if (share < low) low = share;
        }
        const unit = (largest - least) / 255;
        maximum = Math.max(maximum, least + high * unit, -least - low * unit);
      }
    }
    payload.kept.set('maximum', maximum);
  }
  return payload.kept.get('maximum');
}

/**
 * Notes the maximum and the largest magnitude of a head's map.
 *
 * @param {Head} head
 */
export function measure(head) {
  let high = -Infinity, low = Infinity;
  for (const value of head.map) {
    if (value > high) high = value;
    if (value < low) low = value;
  }
  head.max = high;
  head.peak = Math.max(high, -low);
}
