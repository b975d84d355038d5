// Addresses and code of an embedded figure.

import assert from 'node:assert/strict';
import test from 'node:test';
import {addressFor, frameCode} from '../../../vitexplorer/ui/shell/layouts.js';

const HERE = 'https://a.org/page?room=flow&embed=1&lang=zh';

test('the way to the whole page and back keeps everything else', () => {
  assert.equal(addressFor(HERE, false), 'https://a.org/page?room=flow&lang=zh');
  assert.equal(addressFor(addressFor(HERE, false), true), 'https://a.org/page?room=flow&lang=zh&embed=1');
  assert.equal(addressFor(HERE, true), HERE);
});

test('what is written into another page is one frame, whatever the title says', () => {
  const code = frameCode('https://a.org/?room=flow', 'Cats "&" <script>');
  assert.ok(
    code.startsWith('<iframe src="https://a.org/?room=flow&amp;embed=1" title="Cats &quot;&amp;&quot; &lt;script>" '),
  );
  assert.equal(code.match(/</g).length, 2);
});
