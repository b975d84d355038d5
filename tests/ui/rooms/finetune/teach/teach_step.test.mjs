// The one button that stands out while somebody teaches.

import assert from 'node:assert/strict';
import test from 'node:test';

import {nextStep} from '../../../../../vitexplorer/ui/rooms/finetune/teach/teach_step.js';

test('the button that stands out is the next one to press', () => {
  const steps = [0, 1, 2, 3].map((filled) => nextStep(filled, false));
  assert.deepEqual(steps, ['fill', 'add', 'live', 'live']);
  assert.equal(nextStep(2, true), 'compare');
  assert.equal(nextStep(1, true), 'add', 'an answer with one class says nothing');
});
