// Line breaks between words and between Chinese signs.

import assert from 'node:assert/strict';
import test from 'node:test';
import {wrapped} from '../../../vitexplorer/ui/kit/svg.js';

test('lines break between words, and between any two Chinese signs', () => {
  const measure = (text) => text.length;
  assert.deepEqual(wrapped('one two three', 7, measure), ['one two', 'three']);
  assert.deepEqual(wrapped('unbreakable x', 5, measure), ['unbreakable', 'x']);
  assert.deepEqual(wrapped('注意力权重', 2, measure), ['注意', '力权', '重']);
  assert.deepEqual(wrapped('', 5, measure), ['']);
});

test('lines break between words and between Chinese signs, and lose nothing', () => {
  const width = (text) => text.length;
  assert.deepEqual(wrapped('one two three', 7, width), ['one two', 'three']);
  assert.deepEqual(wrapped('注意力图', 3, width), ['注意力', '图']);
  assert.deepEqual(wrapped('unbreakable is', 5, width), ['unbreakable', 'is']);
});
