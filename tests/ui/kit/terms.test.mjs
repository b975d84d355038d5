// Terms of the glossary in a text: the longest, whole words, each once.

import assert from 'node:assert/strict';
import test from 'node:test';

import {finder} from '../../../vitexplorer/ui/kit/terms.js';

/** What is found, as [as it stands there, the term]. */
function found(text, ...entries) {
  const find = finder(entries.map((spellings) => ({spellings, says: '', formula: ''})));
  return find(text).map(({start, end, entry}) => [text.slice(start, end), entry.spellings[0]]);
}

test('the longest term wins, in any case and number, each the first time', () => {
  assert.deepEqual(
    found(
      'Class tokens and tokens: queries of a token, PATCHES.',
      ['token'],
      ['class token', 'CLS'],
      ['query', 'queries'],
      ['patch'],
    ),
    [
      ['Class tokens', 'class token'],
      ['tokens', 'token'],
      ['queries', 'query'],
      ['PATCHES', 'patch'],
    ],
  );
});

test('an English word counts whole', () => {
  assert.deepEqual(
    found('Ahead, head-first, subheads, a header; Grad-CAM of heads.', ['head'], ['Grad-CAM'], ['CAM']),
    [
      ['Grad-CAM', 'Grad-CAM'],
      ['heads', 'head'],
    ],
  );
});

test('the name of a model is no term', () => {
  assert.deepEqual(found('scenes_dino_patch16_192 against DINO', ['DINO'], ['patch']), [['DINO', 'DINO']]);
});

test('a Chinese term stands anywhere, one character only where it is a word', () => {
  const head = ['注意力头', '头'];
  const block = ['块'];
  const patch = ['图块'];
  const value = ['值向量', '值'];
  assert.deepEqual(found('开头的图块', head, block, patch), [['图块', '图块']]);
  assert.deepEqual(found('某一块的头 3', head, block, patch), [
    ['块', '块'],
    ['头', '注意力头'],
  ]);
  assert.deepEqual(found('到块 3 为止', head, block, patch), [['块', '块']]);
  assert.deepEqual(found('平均值与键、值', value), [['值', '值向量']]);
  assert.deepEqual(found('经softmax后', ['softmax']), [['softmax', 'softmax']]);
});
