// Values stored in the browser.

import assert from 'node:assert/strict';
import test from 'node:test';

import {readStored, writeStored} from '../../../vitexplorer/ui/kit/stored.js';

test('a value comes back, and what is missing, broken or forbidden is replaced', (t) => {
  t.after(() => delete globalThis.localStorage);
  const store = {broken: '{', nothing: 'null'};
  globalThis.localStorage = {
    getItem: (key) => store[key] ?? null,
    setItem: (key, text) => {
      store[key] = text;
    },
  };
  assert.equal(writeStored('names', {a: 'b.png'}), true);
  assert.deepEqual(readStored('names', {}), {a: 'b.png'});
  for (const key of ['broken', 'nothing', 'missing']) assert.deepEqual(readStored(key, []), []);
  const refuse = () => {
    throw new Error('not allowed');
  };
  globalThis.localStorage = {getItem: refuse, setItem: refuse};
  assert.equal(writeStored('names', {}), false);
  assert.equal(readStored('names', 3), 3);
});
