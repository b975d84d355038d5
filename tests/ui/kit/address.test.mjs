// The address bar holds what is chosen.

import assert from 'node:assert/strict';
import test from 'node:test';

import {onWritten, writeAddress} from '../../../vitexplorer/ui/kit/address.js';

test('the address bar holds what is chosen, loses what is empty, keeps the rest, and says so once', (t) => {
  const written = [];
  let noticed = 0;
  globalThis.document = new EventTarget();
  onWritten(() => {
    noticed += 1;
  });
  globalThis.location = {href: 'https://here/?lang=zh&head=2'};
  globalThis.history = {state: null, replaceState: (_state, _title, url) => written.push(String(url))};
  t.after(() => {
    for (const name of ['location', 'history', 'document']) delete globalThis[name];
  });
  writeAddress({block: 4, head: ''});
  writeAddress({head: 2});
  assert.deepEqual(written, ['https://here/?lang=zh&block=4']);
  assert.equal(noticed, 1);
});
