// Terms of the formulas on the board of sizes.

import assert from 'node:assert/strict';
import test from 'node:test';

import {percent} from '../../../../vitexplorer/ui/kit/formats.js';
import {change, columnsOf, pieces, written} from '../../../../vitexplorer/ui/rooms/size/formula_terms.js';

test('a share that is not nothing is never written as nothing', () => {
  assert.deepEqual([0, 0.0004, 0.0005, 0.9996, 1, -0.25].map(percent), [
    '0.0\u00a0%',
    '< 0.1\u00a0%',
    '0.1\u00a0%',
    '100.0\u00a0%',
    '100.0\u00a0%',
    '\u221225.0\u00a0%',
  ]);
});

test('single letters lean, words and digits stand, an index follows its letter', () => {
  assert.deepEqual(pieces('Σ L_s · 2 · D_s²'), [
    {text: 'Σ '},
    {text: 'L', leans: true, index: 's'},
    {text: '\u00a0·\u00a02\u00a0·\u00a0'},
    {text: 'D', leans: true, index: 's'},
    {text: '²'},
  ]);
  assert.deepEqual(
    pieces('max(N, 1)').map(({text, leans}) => [text, leans]),
    [
      ['max', false],
      ['(', undefined],
      ['N', true],
      [', 1)', undefined],
    ],
  );
  assert.equal(
    pieces('<img src=x>')
      .map(({text}) => text)
      .join(''),
    '<img src=x>',
  );
});

test('a column is there where a row has something to say in it', () => {
  const plain = {name: 'a', count: 1, share: null, symbols: '', numbers: '', beside: ''};
  assert.deepEqual(columnsOf([plain]), ['name', 'count']);
  assert.deepEqual(columnsOf([plain, {...plain, symbols: 'D', share: 0}]), ['name', 'symbols', 'count', 'share']);
  assert.deepEqual(columnsOf([{...plain, beside: '86 M'}]), ['name', 'beside', 'count']);
});

test('what moved since the last design is known by its part', () => {
  const before = new Map([['mlp', 5]]);
  assert.equal(change(before, 'mlp', 6), 'grew');
  assert.equal(change(before, 'mlp', 4), 'fell');
  assert.equal(change(before, 'mlp', 5), null);
  assert.equal(change(before, 'head', 5), null);
});

test('a design is written as Python reads it', () => {
  assert.equal(written('ViT-B/16', new Map()), 'ViT-B/16');
  assert.equal(
    written(
      '',
      new Map([
        ['depth', 24],
        ['mlp_ratio', 2.5],
      ]),
    ),
    ';depth=24;mlp_ratio=2.5',
  );
  assert.equal(written('', new Map()), '');
});
