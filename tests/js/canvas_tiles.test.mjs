// The strip of all heads of all blocks: how its tiles are laid out, where arrow keys lead, what its file holds.

import assert from 'node:assert/strict';
import test from 'node:test';

import {decodeRows, readQuery} from '../../vitexplorer/ui/canvas/payload.js';
import {layTiles, lengthsOf, tileBeside} from '../../vitexplorer/ui/canvas/tiles.js';
import {VALUE, VIT, packed} from './packed.mjs';

function laidOut(heads) {
  const lengths = lengthsOf(heads), {gap, frame, between, high} = lengths, height = high - 18 - frame;
  const {tile, cols} = layTiles(heads, 1160, height, lengths);
  const width = cols.reduce((sum, count) => sum + count * (tile + gap) - gap + frame, between * (heads.length - 1));
  const highest = Math.max(...heads.map((count, i) => Math.ceil(count / cols[i]) * (tile + gap) - gap));
  assert.ok(width <= 1160 && highest <= height, JSON.stringify({tile, cols, width, highest}));
  return {tile, cols};
}

test('few heads stand in one row, as large as tiles get; many are stacked until they fit', () => {
  assert.deepEqual(laidOut(Array(6).fill(3)), {tile: 46, cols: Array(6).fill(3)});
  assert.equal(laidOut(Array(12).fill(12)).tile, 22);
  assert.equal(laidOut(Array(24).fill(16)).tile, 12);
  laidOut([3, 3, 6, 6, ...Array(18).fill(12), 24, 24]);
  assert.equal(layTiles([1, 1], 10, 5, lengthsOf([1, 1])).tile, 8);  // nothing is smaller than that
});

test('an arrow key leads to the head beside, across blocks, and stays at an edge', () => {
  const heads = [3, 4], cols = [2, 2], from = (block, head) => (down, right) => Object.values(tileBeside({block, head}, down, right, heads, cols));
  assert.deepEqual(from(0, 0)(0, 1), [0, 1]);
  assert.deepEqual(from(0, 0)(1, 0), [0, 2]);
  assert.deepEqual(from(0, 1)(1, 0), [0, 2]);  // the last row is not full
  assert.deepEqual(from(0, 1)(0, 1), [1, 0]);
  assert.deepEqual(from(1, 2)(0, -1), [0, 2]);
  assert.deepEqual(from(0, 2)(1, 0), [0, 2]);
  assert.deepEqual([...from(0, 0)(0, -1), ...from(1, 3)(0, 1)], [0, 0, 1, 3]);
});

test('rows of several blocks are read from one file, each over the grid of its block', () => {
  const [window] = VIT, row = {...window, queries: window.queries.slice(0, 1), heads: window.heads.map((rows) => rows.slice(0, 1))};
  const one = packed([row]), both = new Uint8Array(2 * one.byteLength);
  both.set(new Uint8Array(one));
  both.set(new Uint8Array(one), one.byteLength);
  const strip = {blocks: [0, 1].map((block) => ({block, rows: VALUE.rows, cols: VALUE.cols, heads: VALUE.heads}))};
  const rows = decodeRows(both.buffer, {...VALUE, strip});
  assert.deepEqual(rows.map(({facts}) => facts.block), [0, 1]);
  const read = ({payload}) => readQuery(payload, payload.codes[0]).heads.map(({map}) => [...map]);
  assert.deepEqual(read(rows[0]), read(rows[1]));
  assert.throws(() => decodeRows(both.buffer.slice(0, one.byteLength + 8), {...VALUE, strip}));
});
