// Scales and colours of the canvas.

import assert from 'node:assert/strict';
import test from 'node:test';

import {
  barOf,
  heightOf,
  levelOf,
  paintOf,
  paintOfDropped,
  pixelTable,
  rgbTable,
  SIGNED,
} from '../../../vitexplorer/ui/canvas/colours.js';

test('a scale begins at 0, or at minus its top where weights may be negative', () => {
  assert.deepEqual(
    [0, 0.1, 0.2, 0.3, -0.1].map((value) => heightOf(value, 0.2, 'magma')),
    [0, 0.5, 1, 1, 0],
  );
  assert.deepEqual(
    [-0.2, 0, 0.2].map((value) => levelOf(value, 0.2, SIGNED)),
    [0, 128, 255],
  );
  assert.equal(heightOf(0.1, 0, 'magma'), 0);
});

test('the ends of a colour map are its first and last entry, and between two entries colours are mixed', () => {
  const viridis = rgbTable('viridis');
  assert.equal(viridis.length, 256);
  assert.deepEqual(
    [viridis[0], viridis[5], viridis[255]],
    [
      [0x44, 0x01, 0x54],
      [0x46, 0x08, 0x5c],
      [0xfd, 0xe7, 0x25],
    ],
  );
  assert.ok(viridis[2][1] > 0x01 && viridis[2][1] < 0x08);
});

test('an overlay is clearer where there is less attention, a revealed picture darker', () => {
  assert.equal(paintOf('overlay', 'magma', 0.5, 255)[3], 0.5);
  assert.equal(paintOf('overlay', 'magma', 0.5, 0)[3], 0);
  assert.equal(paintOf('map', 'magma', 0.5, 0)[3], 1);
  assert.deepEqual([paintOf('reveal', 'magma', 0.5, 255)[3], paintOf('reveal', 'magma', 0.5, 0)[3]], [0, 0.5]);
  assert.equal(paintOf('reveal', SIGNED, 1, 0)[3], 0); // the strongest negative weight
  assert.deepEqual(
    ['overlay', 'map', 'reveal'].map((mode) => paintOfDropped(mode, 0.5)[3]),
    [0, 1, 0.5],
  );
  const [red, green, blue, alpha] = new Uint8Array(pixelTable('map', 'viridis', 1).levels.buffer);
  assert.deepEqual([red, green, blue, alpha], [0x44, 0x01, 0x54, 255]);
  assert.deepEqual(barOf('reveal', 'viridis')[255], rgbTable('greys')[255]);
});
