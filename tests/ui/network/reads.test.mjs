// Links of a head: the strongest of its keys, patches and prefix tokens together.

import assert from 'node:assert/strict';
import test from 'node:test';

import {strongest} from '../../../vitexplorer/ui/network/reads.js';

test('the strongest keys come first, prefix tokens among the patches', () => {
  const head = {map: [0.1, 0.3, 0.05, 0.2], prefix: [0.25, 0.1]};
  assert.deepEqual(strongest(head, 3), [
    {code: 1, weight: 0.3},
    {code: -1, weight: 0.25},
    {code: 3, weight: 0.2},
  ]);
});

test('fewer keys than links are all there, sorted', () => {
  const random = Array.from({length: 40}, (_, i) => ((i * 7919) % 101) / 101);
  const sorted = random.map((weight, code) => ({code, weight})).sort((one, other) => other.weight - one.weight);
  assert.deepEqual(strongest({map: random, prefix: []}, 50), sorted);
  assert.deepEqual(strongest({map: random, prefix: []}, 8), sorted.slice(0, 8));
});
