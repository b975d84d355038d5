// The table of a map.

import assert from 'node:assert/strict';
import test from 'node:test';
import {tableOf} from '../../../vitexplorer/ui/canvas/saving.js';

test('a table has a line for each key, quoted names, and no share outside the window', () => {
  const scene = {grid: {cols: 2}, window: {inside: [1, 0]}, mask: Uint8Array.of(0, 0)};
  const shown = {map: Float32Array.of(0.25, 0), prefix: Float32Array.of(0.5), padding: 0.25};
  const table = tableOf({prefix: ['a "b"']}, {prefixKeys: [true]}, scene, shown, {view: 'a, b', run: ''});
  assert.deepEqual(table.split('\n'), [
    'view,run,token,row,col,share,shown',
    '"a, b",,"a ""b""",,,0.5,',
    '"a, b",,"patch",0,0,0.25,0',
    '"a, b",,"patch",0,1,,0',
    '"a, b",,"padding",,,0.25,',
    '',
  ]);
});
