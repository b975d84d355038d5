// Places of patches, by hand: on the board with and without a gap, and in the sequence.

import assert from 'node:assert/strict';
import test from 'node:test';

import {
  corner,
  cutOut,
  EDGE,
  excerpt,
  firstPatch,
  inSight,
  inside,
  laidOut,
  nearest,
  numberOf,
  PREFIX,
  patchAt,
  patchOf,
  SIZE,
  scrollTo,
  TILE,
} from '../../../../vitexplorer/ui/rooms/patches/geometry.js';

const GRID = {rows: 3, cols: 5};

test('without a gap the grid fills the box on its longer side and stands in the middle of the other', () => {
  const layout = laidOut(GRID, 0, 100, 100);
  assert.deepEqual(layout, {side: 20, step: 20, left: 0, top: 20});
  assert.deepEqual(corner(layout, {row: 2, col: 4}), [80, 60]);
});

test('the gap takes its room from the patches, and the margin stays free', () => {
  const {side, step, left, top} = laidOut(GRID, 0.5, 150, 150, 5); // 140 = 5 sides and 4 half sides
  assert.deepEqual([side, step, left, top], [20, 30, 5, (150 - 20 - 60) / 2]);
});

test('every patch is found by its middle, its corner and half of the gap around it, whatever the gap', () => {
  for (const gap of [0, 0.12, 0.6]) {
    const layout = laidOut(GRID, gap, 301, 240, 5);
    const reach = (layout.step - layout.side) / 2 - 1e-6;
    for (let number = 0; number < 15; number++) {
      const patch = patchOf(GRID, number);
      const [x, y] = corner(layout, patch);
      const {side} = layout;
      for (const [dx, dy] of [
        [side / 2, side / 2],
        [1e-6, 1e-6],
        [-reach, side + reach],
      ]) {
        if (gap || dx > 0) assert.deepEqual(patchAt(layout, GRID, x + dx, y + dy), patch);
      }
    }
    assert.equal(patchAt(layout, GRID, layout.left - reach - 1, 100), null);
    assert.equal(patchAt(layout, GRID, 100, 239), null);
  }
});

test('a patch is cut out of the image by its row and its column', () => {
  const image = {naturalWidth: 80, naturalHeight: 24};
  assert.deepEqual(cutOut(GRID, image, {row: 2, col: 1}), [16, 16, 16, 8]);
});

test('patches are counted row by row, and what lies outside is brought to the edge', () => {
  assert.equal(numberOf(GRID, {row: 1, col: 3}), 8);
  assert.deepEqual(patchOf(GRID, 8), {row: 1, col: 3});
  assert.deepEqual(nearest(GRID, {row: -1, col: 5}), {row: 0, col: 4});
  assert.deepEqual([inside(-1, 3), inside(1, 3), inside(3, 3)], [0, 1, 2]);
});

test('only tiles in sight exist, prefix tokens before them', () => {
  assert.equal(firstPatch(2), EDGE + 2 * PREFIX);
  assert.deepEqual(inSight(0, firstPatch(1) + 2 * TILE + 1, 1, 100), [0, 1, 2]);
  assert.deepEqual(inSight(firstPatch(0) + TILE, TILE, 0, 100), [1]);
  assert.deepEqual(inSight(1e6, 500, 1, 100), []);
});

test('a patch is scrolled to the middle of what prefix tokens leave free', () => {
  const width = 400;
  const prefix = 1;
  for (const pinned of [false, true]) {
    const middle = firstPatch(prefix) + 7.5 * TILE - scrollTo(7, width, prefix, pinned);
    assert.equal(middle, pinned ? (firstPatch(prefix) + width) / 2 : width / 2);
  }
  assert.ok(SIZE < TILE);
});

test('an excerpt holds both ends and the picked one with its neighbours, and a gap where something is left out', () => {
  assert.deepEqual(excerpt(50, 144), [0, 1, 2, 3, null, 48, 49, 50, 51, 52, null, 143]);
  assert.deepEqual(excerpt(2, 6), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(excerpt(143, 144), [0, 1, 2, 3, null, 141, 142, 143]);
});
