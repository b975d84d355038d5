// The place of the popover of a term.

import assert from 'node:assert/strict';
import test from 'node:test';

import {beside} from '../../../vitexplorer/ui/kit/glossary.js';

test('the popover stands below its term, above where there is no room, and never outside', () => {
  const box = {width: 300, height: 100};
  const room = {width: 1000, height: 600};
  assert.deepEqual(beside({left: 40, top: 20, bottom: 40}, box, room), {left: 40, top: 48});
  assert.deepEqual(beside({left: 900, top: 560, bottom: 580}, box, room), {left: 692, top: 452});
  assert.deepEqual(beside({left: -5, top: 560, bottom: 580}, {width: 300, height: 590}, room), {left: 8, top: 8});
});
