// Decoder of one block's attention as packed by payload.py, and reader of one query, head by head.
//
// A token is an index into a patch grid (>= 0), -1 - i for prefix token i, PADDING, or, for a query, MEAN. Queries and
// keys may lie on two grids: maps, windows and masks are on the grid of the keys.

import {windowOf} from './grids.js';

const MAGIC = 0x32415856;
export const MEAN = -32767;
export const PADDING = -32768;

/**
 * @typedef {ReturnType<typeof decodePayload>} Payload
 *
 * @typedef {object} Head attention of one query in one head, or in all heads fused
 * @property {Float32Array} map share on each patch of the keys' grid
 * @property {Float32Array} prefix share on each prefix token
 * @property {number} patches share on all patches
 * @property {number} padding share on padding
 * @property {number} max the map's maximum
 * @property {number} peak the map's largest magnitude; differs from `max` only where weights may be negative
 * @property {number} error largest error of a weight from its 8 bits
 *
 * @typedef {object} Reading
 * @property {Head[]} heads
 * @property {import('./grids.js').Window | null} window null where attention is global
 */

/**
 * Views the packed bytes as typed arrays. Throws where the bytes are no payload for these grids.
 *
 * @param {ArrayBuffer} buffer
 * @param {any} value Python's value for the block
 */
export function decodePayload(buffer, value) {
  const {rows, cols} = value.keys ?? value;
  const {prefix, silent} = value;
  const numPrefix = prefix.length;
  const [magic, windows, heads, queries, keys] = buffer.byteLength >= 20 ? new Uint32Array(buffer, 0, 5) : [];
  const tokens = 20 + 4 * windows * (keys + queries);
  const numRows = windows * heads * queries;
  const total = tokens + numRows * (16 + keys);
  if (magic !== MAGIC || buffer.byteLength !== total || heads !== value.heads)
    throw new Error('not a packed attention');
  const payload = {
    windows,
    heads,
    queries,
    keys,
    numPrefix,
    rows,
    cols,
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
  payload.codes.forEach((code, i) => {
    if (code !== PADDING && !payload.index.has(code)) payload.index.set(code, i);
  });
  const outside = (token, limit) => token >= limit || (token < -numPrefix && token !== PADDING);
  if (
    payload.positions.some((key) => outside(key, payload.cells)) ||
    payload.codes.some((query) => query !== MEAN && outside(query, payload.queryCells))
  ) {
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
 * Decodes the rows of several blocks in one file, each with the facts of its block.
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
 * Returns true where a query's rows are in the payload or can be computed from it.
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
      map: new Float32Array(payload.cells),
      prefix: new Float32Array(payload.numPrefix),
      patches: 0,
      padding: 0,
      max: 0,
      peak: 0,
      error: 0,
    })),
    window: null,
  };
}

/**
 * Reads the attention of one query. The next call with the same `reading` overwrites it.
 *
 * @param {Payload} payload
 * @param {number} code the query
 * @param {Reading} [reading] memory for the result
 * @returns {Reading}
 */
export function readQuery(payload, code, reading = emptyReading(payload)) {
  if (code === MEAN && !payload.index.has(MEAN)) return meanReading(payload);
  const at = payload.index.get(code);
  const w = Math.floor(at / payload.queries);
  const q = at % payload.queries;
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

/** Adds `weight` times one row to `head`. */
function addRow(payload, w, h, q, weight, head) {
  const {keys, positions, shares, ends} = payload;
  const row = (w * payload.heads + h) * payload.queries + q;
  const least = weight * ends[2 * row];
  const unit = (weight * ends[2 * row + 1] - least) / 255;
  const from = row * keys;
  const {map, prefix} = head;
  for (let k = 0; k < keys; k++) {
    const p = positions[w * keys + k];
    const value = least + shares[from + k] * unit;
    if (p >= 0) map[p] += value;
    else if (p !== PADDING) prefix[-1 - p] += value;
  }
  head.patches += weight * payload.sums[2 * row];
  head.padding += weight * payload.sums[2 * row + 1];
  head.error += unit / 2;
}

/** Mean of the rows of all patches, computed once for each payload. */
function meanReading(payload) {
  if (!payload.kept.has('mean')) {
    const reading = emptyReading(payload);
    for (const [code, at] of payload.index) {
      if (code < 0) continue;
      const w = Math.floor(at / payload.queries);
      const q = at % payload.queries;
      reading.heads.forEach((head, h) => addRow(payload, w, h, q, 1 / payload.queryCells, head));
    }
    reading.heads.forEach(measure);
    payload.kept.set('mean', reading);
  }
  return payload.kept.get('mean');
}

/**
 * Largest magnitude of the weight of any query on any patch in any head of the block, computed once for each payload.
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
        const least = ends[2 * row];
        const largest = ends[2 * row + 1];
        if (Math.max(largest, -least) <= maximum || codes[w * queries + (row % queries)] === PADDING) continue;
        let low = 255;
        let high = 0;
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
 * Sets the maximum and the largest magnitude of a head's map.
 *
 * @param {Head} head
 */
export function measure(head) {
  let high = -Infinity;
  let low = Infinity;
  for (const value of head.map) {
    if (value > high) high = value;
    if (value < low) low = value;
  }
  head.max = high;
  head.peak = Math.max(high, -low);
}
