// Numbers as they are written.

import assert from 'node:assert/strict';
import test from 'node:test';
import {followed, inARow, labelled, listed, measured, spaced} from '../../../vitexplorer/ui/kit/formats.js';

test('thousands stand apart and a minus is one', () => {
  assert.deepEqual([0, 999, 86443776, -1234].map(spaced), ['0', '999', '86,443,776', '\u22121,234']);
});

test('what stands between words is of full width after Chinese ones', () => {
  assert.equal(labelled('何时会误导', ''), '何时会误导：');
  assert.equal(labelled('权重', 'DINO'), '权重：DINO');
  assert.equal(labelled('Weights', '随机'), 'Weights: 随机');
  assert.equal(listed(['红 3', '绿 4']), '红 3，绿 4');
  assert.equal(listed(['red 3', 'green 4']), 'red 3, green 4');
  assert.equal(followed('切成图块', '指向一个图块。'), '切成图块。指向一个图块。');
  assert.equal(followed('Cut', 'Point at one.'), 'Cut. Point at one.');
  assert.equal(inARow(['“红” here.', '', 'Then there.']), '“红” here. Then there.');
  assert.equal(inARow(['先这里。', '再那里。']), '先这里。再那里。');
});

test('measured numbers have three significant digits, as in Python', () => {
  const numbers = [0, 116, 0.42, 12345, 3.2e-5, -0.0302, 9.999, 1.5e7, Number.NaN];
  const texts = ['0', '116', '0.420', '12,300', '3.2 × 10⁻⁵', '−0.0302', '10.0', '1.5 × 10⁷', '–'];
  assert.deepEqual(numbers.map(measured), texts);
});
