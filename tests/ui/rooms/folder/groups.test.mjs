// Groups of alike images: their names, and the one that is chosen.

import assert from 'node:assert/strict';
import test from 'node:test';

import {readWhere} from '../../../../vitexplorer/ui/rooms/folder/conditions.js';
import {chosenGroup, namesOf} from '../../../../vitexplorer/ui/rooms/folder/groups.js';

test('the chosen group is the one of the address', () => {
  assert.equal(chosenGroup(readWhere('margin:0~1;group=2')), '2');
  assert.equal(chosenGroup(readWhere('group=alone')), 'alone');
  assert.equal(chosenGroup(readWhere('label=group;group:1~2')), '');
});

test('groups have names by their keys', () => {
  const groups = [
    {key: '0', name: 'fish', count: 3, row: 1},
    {key: 'alone', name: 'fits nowhere', count: 1, row: 2},
  ];
  assert.deepEqual(namesOf(groups), {0: 'fish', alone: 'fits nowhere'});
});
