// Tables that Python wrote.

import assert from 'node:assert/strict';
import test from 'node:test';
import {readable, rowsOf} from '../../../vitexplorer/ui/panel/csv_table.js';

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

test('decimals are shown to three significant digits, all other fields as they are', () => {
  assert.deepEqual(
    ['0.03986', '5.42e-05', '1e-05', '1234e567', '-1.0', '12', 'v1.2', '1.2.3', '9d6168f9', ''].map(readable),
    ['0.0399', '5.42 × 10⁻⁵', '1 × 10⁻⁵', '1234e567', '−1.00', '12', 'v1.2', '1.2.3', '9d6168f9', ''],
  );
});
