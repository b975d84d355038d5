// Numbers as they are written.

import assert from 'node:assert/strict';
import test from 'node:test';

import {spaced} from '../../../vitexplorer/ui/kit/numbers.js';

test('thousands stand apart and a minus is one', () => {
  assert.deepEqual([0, 999, 86443776, -1234].map(spaced), ['0', '999', '86,443,776', '\u22121,234']);
});
