// The strip of all heads: the layout of its tiles, and arrow keys.

import assert from 'node:assert/strict';
import test from 'node:test';
import {layTiles, lengthsOf, tileBeside} from '../../../vitexplorer/ui/canvas/strip.js';

function laidOut(heads) {
  const lengths = lengthsOf(heads);
  const {gap, frame, between, high} = lengths;
  const height = high - 18 - frame;
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
  assert.equal(layTiles([1, 1], 10, 5, lengthsOf([1, 1])).tile, 8); // nothing is smaller than that
});

test('an arrow key leads to the head beside, across blocks, and stays at an edge', () => {
  const heads = [3, 4];
  const cols = [2, 2];
  const from = (block, head) => (down, right) => Object.values(tileBeside({block, head}, down, right, heads, cols));
  assert.deepEqual(from(0, 0)(0, 1), [0, 1]);
  assert.deepEqual(from(0, 0)(1, 0), [0, 2]);
  assert.deepEqual(from(0, 1)(1, 0), [0, 2]); // the last row is not full
  assert.deepEqual(from(0, 1)(0, 1), [1, 0]);
  assert.deepEqual(from(1, 2)(0, -1), [0, 2]);
  assert.deepEqual(from(0, 2)(1, 0), [0, 2]);
  assert.deepEqual([...from(0, 0)(0, -1), ...from(1, 3)(0, 1)], [0, 0, 1, 3]);
});
