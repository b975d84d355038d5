// Axes with round numbers.

import assert from 'node:assert/strict';
import test from 'node:test';

import {ordered, scale, short, ticks} from '../../../../vitexplorer/ui/rooms/folder/scales.js';

test('ticks are round and within the axis', () => {
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(0.37, 0.99, 4), [0.4, 0.6, 0.8]);
  assert.deepEqual(ticks(-3, 7, 2), [0, 5]);
  assert.deepEqual(ticks(2, 2, 5), [2]);
  for (const [low, high] of [
    [1e-7, 3e-7],
    [-1e6, 1e6],
    [99.2, 99.9],
  ]) {
    const found = ticks(low, high, 6);
    assert.ok(
      found.length >= 2 && found.length <= 13 && found[0] >= low - 1e-12 && found.at(-1) <= high + 1e-9,
      found.join(),
    );
  }
});

test('a scale leads there and back, also where all numbers are one', () => {
  const axis = scale(-2, 6, 50, 450);
  assert.equal(axis.to(0), 150);
  assert.equal(axis.from(axis.to(1.25)), 1.25);
  assert.ok(Number.isFinite(scale(3, 3, 0, 100).to(3)));
  assert.deepEqual(ordered(9, 1, axis), [1, 6]);
});

test('numbers are short and have a minus that is one', () => {
  assert.deepEqual([0, -0.12345, 1234567, 0.00001234, null, NaN, 42].map(short), [
    '0',
    '\u22120.123',
    '1.2e+6',
    '1.2e\u22125',
    '–',
    '–',
    '42',
  ]);
});
