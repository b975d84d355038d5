// The step at which a training is.

import assert from 'node:assert/strict';
import test from 'node:test';
import {stepOf} from '../../../../vitexplorer/ui/rooms/finetune/steps.js';

test('images come first, then methods, the training while it runs or was stopped, and what was found', () => {
  assert.equal(stepOf({runs: 0}), 0);
  assert.equal(stepOf({images: 'working', training: 'empty', runs: 0}), 0);
  assert.equal(stepOf({images: 'ready', training: 'empty', runs: 0}), 1);
  assert.equal(stepOf({images: 'ready', training: 'running', runs: 0}), 2);
  assert.equal(stepOf({images: 'ready', training: 'stopped', runs: 0}), 2);
  assert.equal(stepOf({images: 'ready', training: 'finished', runs: 2}), 3);
  assert.equal(stepOf({images: 'ready', training: 'running', runs: 2}), 2);
});
