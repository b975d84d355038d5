// The table of all patches.

import assert from 'node:assert/strict';
import test from 'node:test';

import {csvOf} from '../../../../vitexplorer/ui/rooms/patches/board_table.js';

test('every patch has a line: its token after the prefix, its place, its upper left pixel', () => {
  const lines = csvOf({rows: 2, cols: 3, patch_size: 16, prefix_tokens: ['class token']}).split('\n');
  assert.equal(lines[0], 'token,row,col,left,top,side');
  assert.deepEqual([lines[1], lines[6], lines[7]], ['1,0,0,0,0,16', '6,1,2,32,16,16', '']);
});
