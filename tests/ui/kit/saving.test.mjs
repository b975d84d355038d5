// Names of saved files.

import assert from 'node:assert/strict';
import test from 'node:test';

import {fileName} from '../../../vitexplorer/ui/kit/saving.js';

test('a file name has letters, digits, dots and dashes', () => {
  assert.equal(fileName(['vit/tiny', '', 'head 3', '注意 3,7'], 'png'), 'vit-tiny_head-3_注意-3-7.png');
});
