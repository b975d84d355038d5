// Names of a table as a spreadsheet is given them.

import assert from 'node:assert/strict';
import test from 'node:test';

import {csvOf} from '../../../../vitexplorer/ui/rooms/folder/chart_table.js';

test('a spreadsheet runs no name of a table', () => {
  const rows = [['=a', -1, null, '-1.5', '+x,"y', "'=b", 'ok']];
  assert.equal(csvOf({head: ['@h', 'n'], rows}), `\ufeff'@h,n\n'=a,-1,,-1.5,"'+x,""y",''=b,ok\n`);
});
