// Windows that wrap around the grid.

import assert from 'node:assert/strict';
import test from 'node:test';

import {inOrder} from '../../../vitexplorer/ui/canvas/windows.js';

test('a window that wraps around the grid is laid out as the window itself is', () => {
  assert.deepEqual(inOrder([0, 1, 4, 5], 6), [4, 5, 0, 1]);
  assert.deepEqual(inOrder([2, 3], 6), [2, 3]);
  assert.deepEqual(inOrder([0, 1], 6), [0, 1]);
});
