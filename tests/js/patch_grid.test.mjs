// Patches by hand: where a pointer is, what a stroke passes, both ways to write them, and what undo brings back.

import assert from 'node:assert/strict';
import test from 'node:test';

import {isOn, line, nearest, patchAt, readPatches, writePatches} from '../../vitexplorer/ui/kit/grid.js';
import {MOST, history} from '../../vitexplorer/ui/controls/history.js';

const BOARD = {rows: 3, cols: 5, covered: [1, 0.5]};  // the patches cover the left half of the picture

test('a point of the picture lies in a patch, or beyond the grid', () => {
  assert.deepEqual(patchAt(0.34, 0.11, BOARD), [1, 1]);
  assert.deepEqual(patchAt(0.99, 0.6, BOARD), [2, 6]);
  assert.equal(isOn([2, 6], BOARD), false);
  assert.deepEqual(nearest([-2, 6], BOARD), [0, 4]);
});

test('a stroke passes every patch between two, whatever its slope', () => {
  assert.deepEqual(line([0, 0], [2, 4]), [[0, 0], [1, 1], [1, 2], [2, 3], [2, 4]]);
  assert.deepEqual(line([2, 1], [0, 1]), [[2, 1], [1, 1], [0, 1]]);
});

test('patches are read in both notations and written in one, row by row', () => {
  assert.deepEqual(readPatches('2.3+0.1', BOARD), new Set([13, 1]));
  assert.deepEqual(readPatches('13,1', BOARD), new Set([13, 1]));
  assert.equal(writePatches(new Set([13, 1, 2]), BOARD), '0.1+0.2+2.3');
  assert.deepEqual(readPatches('', BOARD), new Set());
  assert.equal(writePatches([], BOARD), '');
});

test('undo and redo walk the same way back and forth, and a new stroke leaves nothing to redo', () => {
  const past = history('a');
  past.take('b');
  past.take('c');
  assert.deepEqual([past.undo(), past.undo(), past.undo()], ['b', 'a', 'a']);
  assert.deepEqual([past.redo(), past.canRedo()], ['b', true]);
  past.take('d');
  assert.deepEqual([past.redo(), past.canRedo(), past.undo(), past.canUndo()], ['d', false, 'b', true]);
});

test('what somebody else changes is no step, and may be where a new history begins', () => {
  const past = history('a');
  past.take('b');
  past.correct('B');
  assert.equal(past.undo(), 'a');
  past.restart('c');
  assert.deepEqual([past.canUndo(), past.canRedo(), past.now()], [false, false, 'c']);
});

test('the oldest steps are forgotten', () => {
  const past = history(0);
  for (let step = 1; step <= MOST + 5; step += 1) past.take(step);
  for (let step = 0; step < 2 * MOST; step += 1) past.undo();
  assert.equal(past.now(), 5);
});
