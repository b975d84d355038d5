// Patches under a pointer and a stroke, and their two notations.

import assert from 'node:assert/strict';
import test from 'node:test';

import {isOn, line, nearest, patchAt, readPatches, writePatches} from '../../../vitexplorer/ui/kit/grid.js';

const BOARD = {rows: 3, cols: 5, covered: [1, 0.5]}; // the patches cover the left half of the picture

test('a point of the picture lies in a patch, or beyond the grid', () => {
  assert.deepEqual(patchAt(0.34, 0.11, BOARD), [1, 1]);
  assert.deepEqual(patchAt(0.99, 0.6, BOARD), [2, 6]);
  assert.equal(isOn([2, 6], BOARD), false);
  assert.deepEqual(nearest([-2, 6], BOARD), [0, 4]);
});

test('a stroke passes every patch between two, whatever its slope', () => {
  assert.deepEqual(line([0, 0], [2, 4]), [
    [0, 0],
    [1, 1],
    [1, 2],
    [2, 3],
    [2, 4],
  ]);
  assert.deepEqual(line([2, 1], [0, 1]), [
    [2, 1],
    [1, 1],
    [0, 1],
  ]);
});

test('patches are read in both notations and written in one, row by row', () => {
  assert.deepEqual(readPatches('2.3+0.1', BOARD), new Set([13, 1]));
  assert.deepEqual(readPatches('13,1', BOARD), new Set([13, 1]));
  assert.equal(writePatches(new Set([13, 1, 2]), BOARD), '0.1+0.2+2.3');
  assert.deepEqual(readPatches('', BOARD), new Set());
  assert.equal(writePatches([], BOARD), '');
});
