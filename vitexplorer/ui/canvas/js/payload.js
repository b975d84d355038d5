// One block's attention as payload.py packs it, and what one query of it looks at, head by head.
//
// A token is an index into the patch grid (>= 0), -1 - i for prefix token i, PADDING, or, for a query, MEAN.

const MAGIC = 0x31415856, MEAN = -32767, PADDING = -32768;

// The packed bytes as typed arrays over the same memory. Throws where the bytes are no payload for this grid.
function decodePayload(buffer, {rows, cols, prefix, heads: numHeads}) {
  const [magic, windows, heads, queries, keys] = buffer.byteLength >= 20 ? new Uint32Array(buffer, 0, 5) : [];
  const tokens = 20 + 4 * windows * (keys + queries), numRows = windows * heads * queries, total = tokens + numRows * (12 + keys);
  if (magic !== MAGIC || buffer.byteLength !== total || heads !== numHeads) throw new Error('not a packed attention');
  const numPrefix = prefix.length;
  const payload = {
    windows, heads, queries, keys, rows, cols, numPrefix,
    cells: rows * cols,
    positions: new Int32Array(buffer, 20, windows * keys),
    codes: new Int32Array(buffer, 20 + 4 * windows * keys, windows * queries),
    largest: new Float32Array(buffer, tokens, numRows),
    sums: new Float32Array(buffer, tokens + 4 * numRows, 2 * numRows),
    shares: new Uint8Array(buffer, tokens + 12 * numRows),
    index: new Map(),
    kept: new Map(),
  };
  payload.codes.forEach((code, i) => { if (code !== PADDING && !payload.index.has(code)) payload.index.set(code, i); });
  for (const p of payload.positions) {
    if (p >= payload.cells || (p < -numPrefix && p !== PADDING)) throw new Error('tokens outside the patch grid');
  }
  payload.numPatchQueries = [...payload.index.keys()].filter((code) => code >= 0).length;
  payload.partial = payload.numPatchQueries < payload.cells;
  return payload;
}

// Whether a query's rows are here, or can be made of what is here.
function hasQuery(payload, code) {
  return payload.index.has(code) || (code === MEAN && !payload.partial);
}

function emptyReading(payload) {
  return {
    heads: Array.from({length: payload.heads}, () => ({
      map: new Float32Array(payload.cells), prefix: new Float32Array(payload.numPrefix),
      patches: 0, padding: 0, max: 0, error: 0,
    })),
    window: null,
  };
}

// What one query looks at: for each head the map over patches and its maximum, the shares on each prefix token, on all
// patches and on padding, and the largest error of the 8 bits. `window` is null where every patch can be attended to. The reading is overwritten by the
// next call with the same `reading`.
function readQuery(payload, code, reading = emptyReading(payload)) {
  if (code === MEAN && !payload.index.has(MEAN)) return meanReading(payload);
  const at = payload.index.get(code), w = Math.floor(at / payload.queries), q = at % payload.queries;
  reading.heads.forEach((head, h) => {
    head.map.fill(0);
    head.prefix.fill(0);
    head.patches = head.padding = head.error = 0;
    addRow(payload, w, h, q, 1, head);
    head.max = largestOf(head.map);
  });
  reading.window = windowOf(payload, w);
  return reading;
}

// Adds `weight` times one row to what `head` holds.
function addRow(payload, w, h, q, weight, head) {
  const {keys, positions, shares} = payload, row = (w * payload.heads + h) * payload.queries + q;
  const unit = weight * payload.largest[row] / 255, from = row * keys, {map, prefix} = head;
  for (let k = 0; k < keys; k++) {
    const p = positions[w * keys + k], value = shares[from + k] * unit;
    if (p >= 0) map[p] += value;
    else if (p !== PADDING) prefix[-1 - p] += value;
  }
  head.patches += weight * payload.sums[2 * row];
  head.padding += weight * payload.sums[2 * row + 1];
  head.error += weight * payload.largest[row] / 510;
}

// The average of the rows of all patches, made once for each payload.
function meanReading(payload) {
  if (!payload.kept.has('mean')) {
    const reading = emptyReading(payload);
    for (const [code, at] of payload.index) {
      if (code < 0) continue;
      const w = Math.floor(at / payload.queries), q = at % payload.queries;
      reading.heads.forEach((head, h) => addRow(payload, w, h, q, 1 / payload.cells, head));
    }
    for (const head of reading.heads) head.max = largestOf(head.map);
    payload.kept.set('mean', reading);
  }
  return payload.kept.get('mean');
}

// The largest weight that any query of the block gives to a patch, in any head; made once for each payload.
function blockMaximum(payload) {
  if (!payload.kept.has('maximum')) {
    let maximum = 0;
    const {windows, heads, queries, keys, positions, codes, shares, largest} = payload;
    for (let w = 0; w < windows; w++) {
      for (let row = w * heads * queries; row < (w + 1) * heads * queries; row++) {
        if (largest[row] <= maximum || codes[w * queries + row % queries] === PADDING) continue;
        let most = 0;
        for (let k = 0; k < keys; k++) if (shares[row * keys + k] > most && positions[w * keys + k] >= 0) most = shares[row * keys + k];
        maximum = Math.max(maximum, most * largest[row] / 255);
      }
    }
    payload.kept.set('maximum', maximum);
  }
  return payload.kept.get('maximum');
}

// Where a window lies: `inside` marks its patches; `local` lists them row by row as the window itself is laid out, also
// where a shifted window wraps around the grid. null for a window that is the whole grid.
function windowOf(payload, w) {
  const name = `window ${w}`;
  if (!payload.kept.has(name)) {
    const patches = payload.positions.subarray(w * payload.keys, (w + 1) * payload.keys).filter((p) => p >= 0);
    const rows = [...new Set(patches.map((p) => Math.floor(p / payload.cols)))];
    const cols = [...new Set(patches.map((p) => p % payload.cols))];
    const inside = new Uint8Array(payload.cells);
    for (const p of patches) inside[p] = 1;
    const local = Int32Array.from(rows.flatMap((row) => cols.map((col) => row * payload.cols + col)));
    payload.kept.set(name, patches.length === payload.cells ? null : {inside, local, rows: rows.length, cols: cols.length});
  }
  return payload.kept.get(name);
}

function largestOf(values) {
  let most = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > most) most = values[i];
  return most;
}
