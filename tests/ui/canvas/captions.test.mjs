// Percentages and words of the canvas.

import assert from 'node:assert/strict';
import test from 'node:test';
import {percent, readingText, say} from '../../../vitexplorer/ui/canvas/captions.js';

test('shares are percentages of about three digits', () => {
  const thin = '\u202f';
  assert.deepEqual(
    [1, 0.123456, 0.0123456, 0.00123456, 0, -0.5, 1e-7].map((share) => percent(share)),
    [
      `100${thin}%`,
      `12.3${thin}%`,
      `1.23${thin}%`,
      `0.123${thin}%`,
      `0${thin}%`,
      `\u221250.0${thin}%`,
      `<${thin}0.001${thin}%`,
    ],
  );
});

test('words are filled in, and what is missing is seen', () => {
  assert.equal(say({patch: 'row {row}, {col}'}, 'patch', {row: 0}), 'row 0, {col}');
  assert.equal(say({}, 'no_such_word'), 'no_such_word');
});

/** Reading of a map of four patches and a class token. */
function reading(map, prefix, head = 'mean') {
  const words = {reading: 'strongest {share}', reading_even: 'even {even} {share}', reading_elsewhere: 'rest {rest}'};
  const value = {words, block: 0, depth: 2, heads: 2, prefix: ['cls'], prefix_labels: ['class token'], cols: 2};
  const cells = Float32Array.from(map);
  const shown = {map: cells, prefix: [prefix], patches: 1 - prefix, peak: Math.max(...cells)};
  const block = {value, grids: {keys: {cols: 2}}, payload: {prefixKeys: [true], signed: false}};
  return readingText(block, {head}, {shown, scene: {window: null}}).replaceAll('\u202f', '');
}

test('a nearly even map is called so, and one with hardly anything on it', () => {
  assert.equal(reading([0.2, 0.21, 0.19, 0.2], 0.2), 'even 20.0% 21.0%');
  assert.equal(reading([0.05, 0.05, 0.6, 0.1], 0.2), 'strongest 60.0%');
  assert.equal(reading([0.002, 0.003, 0.002, 0.001], 0.992), 'rest 99.2%');
  assert.equal(reading([0.2, 0.21, 0.19, 0.2], 0.2, 'max'), 'strongest 21.0%');
});
