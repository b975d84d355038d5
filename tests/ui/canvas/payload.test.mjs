// Packed attention, read query by query, against blocks small enough to count by hand.

import assert from 'node:assert/strict';
import test from 'node:test';
import {borderOf, outsideOf} from '../../../vitexplorer/ui/canvas/grids.js';
import {
  blockMaximum,
  decodePayload,
  decodeRows,
  hasQuery,
  MEAN,
  PADDING,
  readQuery,
} from '../../../vitexplorer/ui/canvas/payload.js';
import {packed, VALUE, VIT} from './packed_attention.mjs';

const near = (found, wanted, error = 1 / 500) => {
  assert.equal(found.length, wanted.length);
  [...found].forEach((number, i) => assert.ok(Math.abs(number - wanted[i]) < error, `${[...found]} is not ${wanted}`));
};

test('a query is read head by head: its map, its shares on prefix tokens, its maximum', () => {
  const payload = decodePayload(packed(VIT), VALUE);
  const {heads, window} = readQuery(payload, 0);
  near(heads[0].map, [0.25, 0.25]);
  near(heads[0].prefix, [0.5]);
  near(heads[1].map, [0.6, 0.3]);
  near([heads[1].patches, heads[1].padding, heads[1].max], [0.9, 0, 0.6]);
  assert.equal(window, null);
  near([heads[1].error], [0.6 / 510], 1e-6);
});

test('the mean is that over patch queries alone', () => {
  const payload = decodePayload(packed(VIT), VALUE);
  assert.ok(hasQuery(payload, MEAN));
  const {
    heads: [first, second],
  } = readQuery(payload, MEAN);
  near(first.map, [0.125, 0.625]);
  near(second.prefix, [0.25]);
});

test('a mean that travels as a row is not made again, and without all patches there is none', () => {
  const row = [{keys: [-1, 0, 1], queries: [MEAN], heads: [[[0.1, 0.2, 0.7]], [[0, 0, 1]]]}];
  near(readQuery(decodePayload(packed(row), VALUE), MEAN).heads[0].map, [0.2, 0.7]);
  const part = decodePayload(packed([{...VIT[0], queries: [-1, 0, PADDING]}]), VALUE);
  assert.ok(part.partial);
  assert.ok(!hasQuery(part, MEAN));
});

test("a block's maximum counts patches alone, and no query that is padding", () => {
  assert.ok(Math.abs(blockMaximum(decodePayload(packed(VIT), VALUE)) - 1) < 0.01);
  const quiet = [
    {...VIT[0], heads: VIT[0].heads.map((head) => head.map(([, ...rest]) => [0.9, ...rest.map((w) => w / 10)]))},
  ];
  assert.ok(Math.abs(blockMaximum(decodePayload(packed(quiet), VALUE)) - 0.1) < 0.01);
  const unasked = [{...VIT[0], queries: [-1, 0, PADDING]}];
  assert.ok(Math.abs(blockMaximum(decodePayload(packed(unasked), VALUE)) - 0.8) < 0.01);
});

test('weights below 0 keep their sign, and their magnitude counts', () => {
  const signed = [
    {
      keys: [0, 1],
      queries: [0, 1],
      heads: [
        [
          [-0.3, 0.1],
          [0, 0.2],
        ],
      ],
    },
  ];
  const payload = decodePayload(packed(signed), {...VALUE, prefix: [], heads: 1});
  assert.ok(payload.signed);
  const {
    heads: [head],
  } = readQuery(payload, 0);
  near(head.map, [-0.3, 0.1]);
  near([head.max, head.peak, blockMaximum(payload)], [0.1, 0.3, 0.3]);
});

test('bytes of another block are refused', () => {
  const bytes = packed(VIT);
  for (const [buffer, value] of [
    [bytes.slice(0, -1), VALUE],
    [new ArrayBuffer(8), VALUE],
    [bytes, {...VALUE, heads: 3}],
    [bytes, {...VALUE, cols: 1}],
    [bytes, {...VALUE, prefix: []}],
  ])
    assert.throws(() => decodePayload(buffer, value));
});

test('a windowed query marks its window; the boxes outside cover every other patch once', () => {
  const windows = [
    {
      keys: [0, 2, 6, 8],
      queries: [0, 2, 6, 8],
      heads: [
        [
          [1, 0, 0, 0],
          [0, 1, 0, 0],
          [0, 0, 1, 0],
          [0, 0, 0, 1],
        ],
      ],
    },
    {
      keys: [1, 4, 7, PADDING],
      queries: [1, 4, 7, PADDING],
      heads: [
        [
          [1, 0, 0, 0],
          [0, 1, 0, 0],
          [0, 0, 0.5, 0.5],
          [1, 0, 0, 0],
        ],
      ],
    },
  ];
  const payload = decodePayload(packed(windows), {rows: 3, cols: 3, keys: null, prefix: [], silent: [], heads: 1});
  const {window} = readQuery(payload, 2);
  assert.deepEqual([...window.inside], [1, 0, 1, 0, 0, 0, 1, 0, 1]);
  assert.deepEqual([...window.local], [8, 6, 2, 0]);
  const covered = new Array(9).fill(0);
  for (const [left, top, right, bottom] of outsideOf(window, 3, 3)) {
    for (let row = top; row < bottom; row++) for (let col = left; col < right; col++) covered[3 * row + col] += 1;
  }
  assert.deepEqual(
    covered,
    [...window.inside].map((inside) => 1 - inside),
  );
  assert.equal(borderOf(window, 3, 3).length, 16);
  near([readQuery(payload, 7).heads[0].padding], [0.5]);
});

test('rows of several blocks are read from one file, each over the grid of its block', () => {
  const [window] = VIT;
  const row = {...window, queries: window.queries.slice(0, 1), heads: window.heads.map((rows) => rows.slice(0, 1))};
  const one = packed([row]);
  const both = new Uint8Array(2 * one.byteLength);
  both.set(new Uint8Array(one));
  both.set(new Uint8Array(one), one.byteLength);
  const strip = {blocks: [0, 1].map((block) => ({block, rows: VALUE.rows, cols: VALUE.cols, heads: VALUE.heads}))};
  const rows = decodeRows(both.buffer, {...VALUE, strip});
  assert.deepEqual(
    rows.map(({facts}) => facts.block),
    [0, 1],
  );
  const read = ({payload}) => readQuery(payload, payload.codes[0]).heads.map(({map}) => [...map]);
  assert.deepEqual(read(rows[0]), read(rows[1]));
  assert.throws(() => decodeRows(both.buffer.slice(0, one.byteLength + 8), {...VALUE, strip}));
});
