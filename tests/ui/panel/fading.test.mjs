// The maps that lie on each other in a figure, and which of them are seen.

import assert from 'node:assert/strict';
import test from 'node:test';

import {faded} from '../../../vitexplorer/ui/panel/fading.js';

const drawn = {
  data: [{name: 'small'}, ...[0, 1, 2].map((layer) => ({meta: {layer}, visible: layer === 0}))],
  layout: {
    width: 800,
    height: 440,
    meta: {fade: {}},
    coloraxis: {cmax: 1, colorbar: {x: 0.4, y: 0.9, len: 300}},
    coloraxis2: {cmax: 0.02, colorbar: {x: 0.9, y: 0.8, len: 200, thickness: 16}},
  },
};

test('a mix shows both maps in its shares in place of their difference, with their scale', () => {
  const {data, layout} = faded(drawn, 0.25);
  assert.deepEqual(
    data.slice(1).map(({visible, opacity}) => [visible, opacity]),
    [
      [false, 0],
      [true, 0.75],
      [true, 0.25],
    ],
  );
  assert.equal(data[0], drawn.data[0]);
  assert.deepEqual(layout.coloraxis, {cmax: 0.02, colorbar: {x: 0.4, y: 0.9, len: 300, thickness: 16}});
});

test('at an end of the slider one map is seen alone', () => {
  assert.deepEqual(
    faded(drawn, 1).data.map(({visible}) => visible),
    [undefined, false, false, true],
  );
});

test('nothing is mixed before a person asks for it', () => {
  assert.equal(faded(drawn, null).data, drawn.data);
});
