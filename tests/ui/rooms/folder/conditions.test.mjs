// Conditions of a survey in the address and back.

import assert from 'node:assert/strict';
import test from 'node:test';

import {
  placed,
  readWhere,
  withCondition,
  without,
  writtenWhere,
} from '../../../../vitexplorer/ui/rooms/folder/conditions.js';

test('conditions come back from an address as they were written, odd names included', () => {
  const where = [
    {kind: 'within', column: placed('distance', 3, 1), low: -0.5, high: 12},
    {kind: 'equals', column: 'label', value: 'a;b=c~d:e 鱼'},
    {kind: 'equals', column: 'label', value: ''},
    {kind: 'area', column: 'feature_cls', box: [-1, 2.5, 0, 3]},
  ];
  assert.deepEqual(readWhere(writtenWhere(where)), where);
  assert.equal(writtenWhere([]), '');
});

test('what an address says wrongly is left out', () => {
  for (const text of ['', ';;', 'margin', 'margin:1', 'margin:1~x', 'margin:~2', 'f@1~2~3', '=x', ':1~2', '%:1~2'])
    assert.deepEqual(readWhere(text), [], text);
});

test('a condition takes the place of the one on the same column', () => {
  const [one, other] = readWhere('margin:0~1;label=fish');
  const [moved] = readWhere('margin:0.5~1');
  assert.deepEqual(withCondition([one, other], moved), [other, moved]);
  assert.deepEqual(without([one, other], moved), [other]);
});
