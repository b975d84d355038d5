// What a person chose to train, on its way through the address.

import assert from 'node:assert/strict';
import test from 'node:test';

import {FIRST, read, written} from '../../vitexplorer/ui/training/plan.js';

const NOTHING = {on: null, settings: {}, rates: {}, plan: {}};

test('what is as the fields begin is not in the address', () => {
  assert.equal(written({...NOTHING, plan: FIRST}), '');
  assert.deepEqual(read(''), NOTHING);
});

test('what was chosen comes back as it was', () => {
  const chosen = {on: ['lora'], settings: {lora: {rank: '4'}}, rates: {lora: '0.01'}, plan: {epochs: '5'}};
  assert.deepEqual(read(written({...chosen, plan: {...FIRST, epochs: '5'}})), chosen);
  assert.deepEqual(read(written({...NOTHING, on: []})).on, []);  // somebody ticked none
});

test('nonsense chooses nothing', () => {
  for (const text of ['{', 'null', '7', '{"on": 3, "plan": {"colour": "red", "seed": 4}, "rates": {"lora": {}}}']) {
    assert.deepEqual(read(text), NOTHING);
  }
});
