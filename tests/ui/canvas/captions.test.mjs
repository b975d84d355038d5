// Percentages and words of the canvas.

import assert from 'node:assert/strict';
import test from 'node:test';
import {percent, say} from '../../../vitexplorer/ui/canvas/captions.js';

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
