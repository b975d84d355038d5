// Numbers and formulas as a count table writes them.

import assert from 'node:assert/strict';
import test from 'node:test';

import {change, columnsOf, pieces} from '../../vitexplorer/ui/calculator/terms.js';
import {percent, spaced} from '../../vitexplorer/ui/kit/numbers.js';

test('thousands stand apart and a minus is one', () => {
  assert.deepEqual([0, 999, 86443776, -1234].map(spaced), ['0', '999', '86,443,776', '\u22121,234']);
});

test('a share that is not nothing is never written as nothing', () => {
  assert.deepEqual([0, 0.0004, 0.0005, 0.9996, 1, -0.25].map(percent), [
    '0.0 %', '< 0.1 %', '0.1 %', '100.0 %', '100.0 %', '\u221225.0 %',
  ]);
});

test('single letters lean, words and digits stand, an index follows its letter', () => {
  assert.deepEqual(pieces('Σ L_s · 2 · D_s²'), [
    {text: 'Σ '}, {text: 'L', leans: true, index: 's'}, {text: '\u00a0·\u00a02\u00a0·\u00a0'},
    {text: 'D', leans: true, index: 's'}, {text: '²'},
  ]);
  assert.deepEqual(pieces('max(N, 1)').map(({text, leans}) => [text, leans]), [
    ['max', false], ['(', undefined], ['N', true], [', 1)', undefined],
  ]);
  assert.equal(pieces('<img src=x>').map(({text}) => text).join(''), '<img src=x>');
});

test('a formula has a column where a row has one', () => {
  const plain = {name: 'a', count: 1, share: 1, symbols: '', numbers: ''};
  assert.deepEqual(columnsOf([plain]), ['name', 'count', 'share']);
  assert.deepEqual(columnsOf([plain, {...plain, symbols: 'D'}]), ['name', 'symbols', 'count', 'share']);
});

test('what moved since the last value is known by its name', () => {
  const before = new Map([['a', 5]]);
  assert.equal(change(before, {name: 'a', count: 6}), 'grew');
  assert.equal(change(before, {name: 'a', count: 4}), 'fell');
  assert.equal(change(before, {name: 'a', count: 5}), null);
  assert.equal(change(before, {name: 'b', count: 5}), null);
});
