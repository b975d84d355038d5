// Packed maps of texts, and what the room Words reads off them.

import assert from 'node:assert/strict';
import test from 'node:test';

import {
  correlation,
  extremes,
  pythonOf,
  rangeOf,
  sharesOf,
  textsOf,
  unpacked,
} from '../../../../vitexplorer/ui/rooms/words/numbers.js';

test('maps come by method and text, with the best text of each patch', () => {
  const numbers = Float32Array.from([0, 1, 2, 3, 4, 5, 6, 7]); // 2 methods, 2 texts, 2 patches
  const bytes = new Uint8Array([...new Uint8Array(numbers.buffer), 1, 1, 0, 1]);
  const maps = unpacked(bytes.buffer, {counted: ['raw', 'gem'], texts: ['a', 'b'], rows: 1, cols: 2});
  assert.deepEqual([...maps.get('gem').maps[0]], [4, 5]);
  assert.deepEqual([...maps.get('raw').maps[1]], [2, 3]);
  assert.deepEqual([...maps.get('raw').best], [1, 1]);
  assert.deepEqual([...maps.get('gem').best], [0, 1]);
});

test('a range is that of all maps, and extremes are the first of equal ones', () => {
  const [one, other] = [Float32Array.from([0.5, -1, -1]), Float32Array.from([2, 0, 2])];
  assert.deepEqual(rangeOf([one, other]), {low: -1, high: 2});
  assert.deepEqual(extremes(one), {most: 0, least: 1});
  assert.deepEqual(extremes(other), {most: 0, least: 1});
});

test('a correlation knows neither scale nor offset', () => {
  const map = Float32Array.from([1, 2, 4]);
  const isNear = (other, expected) => assert.ok(Math.abs(correlation(map, Float32Array.from(other)) - expected) < 1e-6);
  isNear([12, 14, 18], 1);
  isNear([-1, -2, -4], -1);
  isNear([1, 0, 0], -0.7559289); // by hand: -4/3 / sqrt(42/9 * 6/9)
  assert.ok(Number.isNaN(correlation(map, Float32Array.from([3, 3, 3]))));
});

test('shares count the patches of each text', () => {
  assert.deepEqual(sharesOf(Uint8Array.from([0, 2, 2, 2]), 3), [0.25, 0, 0.75]);
});

test('texts are stripped, parted by semicolons, and equal ones come once', () => {
  assert.deepEqual(textsOf([' a gear ', '', 'a cat; a gear;;', '齿轮']), ['a gear', 'a cat', '齿轮']);
});

test('lines of Python name the text as a string', () => {
  const lines = "text='{text}', texts='{texts}', method='{method}', texts.each[{number}]";
  const chosen = {text: "a cat's \\", texts: ['{method}', 'b'], number: 1, method: 'gem'};
  assert.equal(pythonOf(lines, chosen), "text='a cat\\'s \\\\', texts='{method}; b', method='gem', texts.each[1]");
});
