// Punctuation between words, in full width after Chinese ones.

import assert from 'node:assert/strict';
import test from 'node:test';

import {followed, labelled, listed} from '../../../vitexplorer/ui/kit/punctuation.js';

test('what stands between words is of full width after Chinese ones', () => {
  assert.equal(labelled('何时会误导', ''), '何时会误导：');
  assert.equal(labelled('权重', 'DINO'), '权重：DINO');
  assert.equal(labelled('Weights', '随机'), 'Weights: 随机');
  assert.equal(listed(['红 3', '绿 4']), '红 3，绿 4');
  assert.equal(listed(['red 3', 'green 4']), 'red 3, green 4');
  assert.equal(followed('切成图块', '指向一个图块。'), '切成图块。指向一个图块。');
  assert.equal(followed('Cut', 'Point at one.'), 'Cut. Point at one.');
});
