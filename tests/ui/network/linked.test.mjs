// Place of a followed token in pictures of other grids.

import assert from 'node:assert/strict';
import test from 'node:test';

import {MEAN} from '../../../vitexplorer/ui/canvas/payload.js';
import {codeAt, followedAt} from '../../../vitexplorer/ui/network/linked.js';

const IMAGE = {naturalHeight: 192, naturalWidth: 192};
const COARSE = {prefix: ['cls'], grids: [[12, 12, 16]]};
const FINE = {prefix: [], grids: [[48, 48, 4]]};
const carried = (code, from, to) => codeAt(followedAt(code, from, IMAGE), to, IMAGE);

test('a patch is found by the pixels of its centre', () => {
  // row 3, column 9 of 16 pixels has its centre at 56, 152: row 14, column 38 of 4 pixels
  assert.equal(carried(3 * 12 + 9, COARSE, FINE), 14 * 48 + 38);
  assert.equal(carried(14 * 48 + 38, FINE, COARSE), 3 * 12 + 9);
});

test('a token that the other picture lacks becomes its mean', () => {
  assert.equal(carried(-1, COARSE, COARSE), -1);
  assert.equal(carried(-1, COARSE, FINE), MEAN);
  assert.equal(carried(MEAN, FINE, COARSE), MEAN);
});
