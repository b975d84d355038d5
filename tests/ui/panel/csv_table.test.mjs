// Tables that Python wrote.

import assert from 'node:assert/strict';
import test from 'node:test';
import {rowsOf} from '../../../vitexplorer/ui/panel/csv_table.js';

test('fields may be empty or quoted, with commas, quotes and lines in them', () => {
  assert.deepEqual(rowsOf('\ufeffrow,value\n0,\n1,"a, ""b""\nc"\r\n'), [
    ['row', 'value'],
    ['0', ''],
    ['1', 'a, "b"\nc'],
  ]);
});

test('a file may end without a line break', () => {
  assert.deepEqual(rowsOf('a,b\n1,2'), [
    ['a', 'b'],
    ['1', '2'],
  ]);
});
