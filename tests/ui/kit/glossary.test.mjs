// The place of the popover of a term.

import assert from 'node:assert/strict';
import test from 'node:test';
import {beside, finder} from '../../../vitexplorer/ui/kit/glossary.js';

test('the popover stands below its term, above where there is no room, and never outside', () => {
  const box = {width: 300, height: 100};
  const room = {width: 1000, height: 600};
  assert.deepEqual(beside({left: 40, top: 20, bottom: 40}, box, room), {left: 40, top: 48});
  assert.deepEqual(beside({left: 900, top: 560, bottom: 580}, box, room), {left: 692, top: 452});
  assert.deepEqual(beside({left: -5, top: 560, bottom: 580}, {width: 300, height: 590}, room), {left: 8, top: 8});
});

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
