// The plan of a training in the address.

import assert from 'node:assert/strict';
import test from 'node:test';
import {read, written} from '../../../../../vitexplorer/ui/rooms/finetune/training/methods.js';

const FIRST = {epochs: '10', seed: '0'};
const NOTHING = {on: null, settings: {}, plan: {}};

test('what is as the fields begin is not in the address', () => {
  assert.equal(written({...NOTHING, plan: FIRST}, FIRST), '');
  assert.deepEqual(read(''), NOTHING);
});

test('what was chosen comes back as it was', () => {
  const chosen = {on: ['lora'], settings: {lora: {rank: '4', learning_rate: '0.01'}}, plan: {epochs: '5'}};
  assert.deepEqual(read(written({...chosen, plan: {...FIRST, epochs: '5'}}, FIRST)), chosen);
  assert.deepEqual(read(written({...NOTHING, on: []}, FIRST)).on, []); // somebody ticked none
});

test('nonsense chooses nothing', () => {
  for (const text of ['{', 'null', '7', '{"on": 3, "plan": {"seed": 4}}']) {
    assert.deepEqual(read(text), NOTHING);
  }
});
