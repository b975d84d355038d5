// What of a survey is looked at, in the address and back; axes whose numbers are round.

import assert from 'node:assert/strict';
import {test} from 'node:test';

import {placed, readWhere, withCondition, without, writtenWhere} from '../../vitexplorer/ui/rooms/folder/choice.js';
import {ordered, scale, short, ticks} from '../../vitexplorer/ui/rooms/folder/scales.js';
import {csvOf} from '../../vitexplorer/ui/rooms/folder/chart_table.js';

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
  for (const text of ['', ';;', 'margin', 'margin:1', 'margin:1~x', 'margin:~2', 'f@1~2~3', '=x', ':1~2', '%:1~2']) assert.deepEqual(readWhere(text), [], text);
});

test('a condition takes the place of the one on the same column', () => {
  const [one, other] = readWhere('margin:0~1;label=fish'), [moved] = readWhere('margin:0.5~1');
  assert.deepEqual(withCondition([one, other], moved), [other, moved]);
  assert.deepEqual(without([one, other], moved), [other]);
});

test('ticks are round and within the axis', () => {
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(0.37, 0.99, 4), [0.4, 0.6, 0.8]);
  assert.deepEqual(ticks(-3, 7, 2), [0, 5]);
  assert.deepEqual(ticks(2, 2, 5), [2]);
  for (const [low, high] of [[1e-7, 3e-7], [-1e6, 1e6], [99.2, 99.9]]) {
    const found = ticks(low, high, 6);
    assert.ok(found.length >= 2 && found.length <= 13 && found[0] >= low - 1e-12 && found.at(-1) <= high + 1e-9, found.join());
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
  assert.deepEqual([0, -0.12345, 1234567, 0.00001234, null, NaN, 42].map(short), ['0', '\u22120.123', '1.2e+6', '1.2e\u22125', '–', '–', '42']);
});

test('a spreadsheet runs no name of a table', () => {
  const rows = [['=a', -1, null, '-1.5', '+x,"y', "'=b", 'ok']];
  assert.equal(csvOf({head: ['@h', 'n'], rows}), `\ufeff'@h,n\n'=a,-1,,-1.5,"'+x,""y",''=b,ok\n`);
});
