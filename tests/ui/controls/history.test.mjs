// Undo and redo of strokes.

import assert from 'node:assert/strict';
import test from 'node:test';

import {history, MOST} from '../../../vitexplorer/ui/controls/history.js';

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
