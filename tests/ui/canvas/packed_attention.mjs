// Attention of two tokens and a class token as the browser gets it, for tests.

import {PADDING} from '../../../vitexplorer/ui/canvas/payload.js';

/** Packs weights as payload.py does: windows of {keys, queries, heads: rows of weights}. */
export function packed(windows) {
  const [{keys, queries, heads}] = windows;
  const rows = windows.length * heads.length * queries.length;
  const buffer = new ArrayBuffer(20 + 4 * windows.length * (keys.length + queries.length) + rows * (16 + keys.length));
  new Uint32Array(buffer, 0, 5).set([0x32415856, windows.length, heads.length, queries.length, keys.length]);
  const numKeys = windows.length * keys.length;
  const tokens = 20 + 4 * (numKeys + windows.length * queries.length);
  new Int32Array(buffer, 20, numKeys).set(windows.flatMap((window) => window.keys));
  new Int32Array(buffer, 20 + 4 * numKeys, windows.length * queries.length).set(
    windows.flatMap((window) => window.queries),
  );
  const ends = new Float32Array(buffer, tokens, 2 * rows);
  const sums = new Float32Array(buffer, tokens + 8 * rows, 2 * rows);
  const shares = new Uint8Array(buffer, tokens + 16 * rows);
  windows
    .flatMap((window) => window.heads.flatMap((head) => head.map((row) => ({row, keys: window.keys}))))
    .forEach(({row, keys: at}, i) => {
      const least = Math.min(0, ...row);
      const largest = Math.max(0, ...row);
      const span = largest - least || 1;
      const sum = (wanted) => row.reduce((all, weight, k) => (wanted(at[k]) ? all + weight : all), 0);
      ends.set([least, largest], 2 * i);
      sums.set([sum((token) => token >= 0), sum((token) => token === PADDING)], 2 * i);
      shares.set(
        row.map((weight) => Math.round((255 * (weight - least)) / span)),
        i * row.length,
      );
    });
  return buffer;
}

export const VALUE = {rows: 1, cols: 2, keys: null, prefix: ['cls'], silent: [], heads: 2};
export const VIT = [
  {
    keys: [-1, 0, 1],
    queries: [-1, 0, 1],
    heads: [
      [
        [0.2, 0.8, 0],
        [0.5, 0.25, 0.25],
        [0, 0, 1],
      ],
      [
        [1, 0, 0],
        [0.1, 0.6, 0.3],
        [0.4, 0.2, 0.4],
      ],
    ],
  },
];
