// Patches found by their middle, and matched from one grid to another.

import assert from 'node:assert/strict';
import test from 'node:test';

import {cellAt, gridOf, inOrder, placeOf} from '../../../vitexplorer/ui/canvas/grids.js';

test('every patch is found by its middle, also where patches reach beyond the picture', () => {
  const image = {naturalHeight: 50, naturalWidth: 70};
  const grid = gridOf({rows: 4, cols: 5, cell: 16}, image, 'queries');
  assert.deepEqual([grid.high, grid.wide], [16 / 50, 16 / 70]);
  for (let cell = 0; cell < 20; cell++) assert.equal(cellAt(grid, placeOf(grid, cell)), cell);
  assert.equal(cellAt(grid, {y: 0.5, x: -0.01}), null);
  assert.equal(cellAt(grid, null), null);
  assert.deepEqual(gridOf({rows: 4, cols: 5, cell: 0, keys: {rows: 2, cols: 1, cell: 0}}, image, 'keys'), {
    rows: 2,
    cols: 1,
    high: 0.5,
    wide: 1,
  });
});

test('a place of one grid lies in another as whole numbers say, also on the border of two patches', () => {
  for (const [rows, others] of [
    [12, 24],
    [12, 48],
    [24, 6],
    [14, 28],
    [7, 10],
  ]) {
    const one = gridOf({rows, cols: rows, cell: 0}, null, 'queries');
    const other = gridOf({rows: others, cols: others, cell: 0}, null, 'queries');
    const within = (at) => Math.floor(((2 * at + 1) * others) / (2 * rows));
    for (let cell = 0; cell < rows * rows; cell++) {
      assert.equal(cellAt(other, placeOf(one, cell)), within(Math.floor(cell / rows)) * others + within(cell % rows));
    }
  }
});

test('a window that wraps around the grid is laid out as the window itself is', () => {
  assert.deepEqual(inOrder([0, 1, 4, 5], 6), [4, 5, 0, 1]);
  assert.deepEqual(inOrder([2, 3], 6), [2, 3]);
  assert.deepEqual(inOrder([0, 1], 6), [0, 1]);
});
