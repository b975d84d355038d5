// One block's attention as payload.py packs it, and what one query of it looks at, head by head.
//
// A token is an index into a patch grid (>= 0), -1 - i for prefix token i, PADDING, or, for a query, MEAN. Queries and
// keys may lie on two grids: maps, windows and masks are over the keys' one.

const MAGIC = 0x32415856, MEAN = -32767, PADDING = -32768;

// The packed bytes as typed arrays over the same memory. Throws where the bytes are no payload for these grids.
function decodePayload(buffer, value) {
  const {rows, cols} = value.keys ?? value, {prefix, silent} = value, numPrefix = prefix.length;
  const [magic, windows, heads, queries, keys] = buffer.byteLength >= 20 ? new Uint32Array(buffer, 0, 5) : [];
  const tokens = 20 + 4 * windows * (keys + queries), numRows = windows * heads * queries, total = tokens + numRows * (16 + keys);
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
  payload.signed = payload.ends.some((end, i) => i % 2 === 0 && end < 0);
  payload.prefixKeys = prefix.map((_, i) => payload.positions.includes(-1 - i));
  payload.numPatchQueries = [...payload.index.keys()].filter((code) => code >= 0).length;
  payload.partial = !silent.includes('patches') && payload.numPatchQueries < payload.queryCells;
  return payload;
}

// Whether a query's rows are here, or can be made of what is here.
function hasQuery(payload, code) {
  return payload.index.has(code) || (code === MEAN && payload.numPatchQueries === payload.queryCells);
}

function emptyReading(payload) {
  return {
    heads: Array.from({length: payload.heads}, () => ({
      map: new Float32Array(payload.cells), prefix: new Float32Array(payload.numPrefix),
      patches: 0, padding: 0, max: 0, peak: 0, error: 0,
    })),
    window: null,
  };
}

// What one query looks at: for each head the map over patches, its maximum and its largest magnitude `peak` (another one
// only where weights may be negative), the shares on each prefix token, on all patches and on padding, and the error of
// the 8 bits. `window` is null where every patch can be attended to.
// The reading is overwritten by the next call with the same `reading`.
function readQuery(payload, code, reading = emptyReading(payload)) {
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

// Adds `weight` times one row to what `head` holds.
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

// The average of the rows of all patches, made once for each payload.
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

// The largest magnitude of what any query of the block gives to a patch, in any head; made once for each payload.
function blockMaximum(payload) {
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

// The rows, or columns, of a window as they lie in it: in order, and from the far edge on where it wraps around a grid of
// `size` of them.
function inOrder(lines, size) {
  const sorted = [...new Set(lines)].sort((a, b) => a - b), gap = sorted.findIndex((line, i) => i > 0 && line > sorted[i - 1] + 1);
  const wraps = gap > 0 && sorted[0] === 0 && sorted.at(-1) === size - 1;
  return wraps ? [...sorted.slice(gap), ...sorted.slice(0, gap)] : sorted;
}

// Where a window lies: `inside` marks its patches; `local` lists them row by row as the window itself is laid out, also
// where a shifted window wraps around the grid. null for a window that is the whole grid.
function windowOf(payload, w) {
  const name = `window ${w}`;
  if (!payload.kept.has(name)) {
    const patches = payload.positions.subarray(w * payload.keys, (w + 1) * payload.keys).filter((p) => p >= 0);
    const rows = inOrder(patches.map((p) => Math.floor(p / payload.cols)), payload.rows);
    const cols = inOrder(patches.map((p) => p % payload.cols), payload.cols);
    const inside = new Uint8Array(payload.cells);
    for (const p of patches) inside[p] = 1;
    const local = Int32Array.from(rows.flatMap((row) => cols.map((col) => row * payload.cols + col)));
    payload.kept.set(name, patches.length === payload.cells ? null : {inside, local, rows: rows.length, cols: cols.length});
  }
  return payload.kept.get(name);
}

// The maximum and the largest magnitude of a head's map.
function measure(head) {
  let high = -Infinity, low = Infinity;
  for (const value of head.map) {
    if (value > high) high = value;
    if (value < low) low = value;
  }
  head.max = high;
  head.peak = Math.max(high, -low);
}
