// Groups of a room's views.

import assert from 'node:assert/strict';
import test from 'node:test';

import {groupsOf} from '../../../vitexplorer/ui/kit/previews.js';

const view = (key, group) => ({key, title: key, question: '', group});

test('views stand under their headings in the order of the list', () => {
  const views = [view('a', 'Attention'), view('b', 'Gradient'), view('c', 'Gradient')];
  const groups = groupsOf(views);
  assert.deepEqual(
    groups.map(({heading, views: below}) => [heading, ...below.map(({key}) => key)]),
    [
      ['Attention', 'a'],
      ['Gradient', 'b', 'c'],
    ],
  );
});

test('a room has no heading where all views are of one group, or any is of none', () => {
  for (const [first, second] of [
    ['Attention', 'Attention'],
    ['Attention', ''],
    [undefined, undefined],
  ]) {
    const views = [view('a', first), view('b', second)];
    assert.deepEqual(groupsOf(views), [{heading: '', views}]);
  }
});
