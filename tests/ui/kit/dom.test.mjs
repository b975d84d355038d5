// Words filled into texts.

import assert from 'node:assert/strict';
import test from 'node:test';

import {filled} from '../../../vitexplorer/ui/kit/dom.js';

test('names are filled in, and one without a value is left to be noticed', () => {
  assert.equal(filled('{a} of {b}, {c}', {a: 0, b: '{a}'}), '0 of {a}, {c}');
});
