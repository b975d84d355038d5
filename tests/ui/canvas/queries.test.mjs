// Queries as the address writes them.

import assert from 'node:assert/strict';
import test from 'node:test';

import {MEAN} from '../../../vitexplorer/ui/canvas/payload.js';
import {headFrom, isSilent, queryCode, queryText} from '../../../vitexplorer/ui/canvas/queries.js';
import {VALUE} from './packed_attention.mjs';

test('queries are read as the address writes them', () => {
  for (const text of ['cls', 'mean', '0,1']) assert.equal(queryText(VALUE, queryCode(VALUE, text)), text);
  assert.equal(queryCode(VALUE, [0, 1]), 1);
  for (const text of ['dist', '1,0', '0,2', '-1,0', null, 7]) assert.equal(queryCode(VALUE, text), null);
  assert.deepEqual(
    ['mean', '1', '2', 'best'].map((head) => headFrom(VALUE, head)),
    ['mean', 1, null, null],
  );
  assert.ok(isSilent({...VALUE, silent: ['patches']}, MEAN));
});
