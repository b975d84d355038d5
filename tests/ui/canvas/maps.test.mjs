// Masks, fused heads and interpolated maps.

import assert from 'node:assert/strict';
import test from 'node:test';

import {fuseHeads, interpolate, massMask} from '../../../vitexplorer/ui/canvas/maps.js';

test('the mask keeps the fewest patches that hold the mass', () => {
  const map = Float32Array.of(0.5, 0.1, 0.3, 0.1);
  assert.equal(massMask(map, 1), null);
  assert.deepEqual([...massMask(map, 0.75)], [1, 0, 1, 0]);
  assert.deepEqual([...massMask(map, 0.85)], [1, 0, 1, 1]); // of equal ones the later
  assert.deepEqual([...massMask(Float32Array.of(-0.9, 0.1), 0.5)], [1, 0]);
});

test('heads are fused on true values', () => {
  const head = (map, padding) => ({
    map: Float32Array.from(map),
    prefix: Float32Array.of(0.1),
    patches: 0.5,
    padding,
    error: 0.01,
    max: 0,
    peak: 0,
  });
  const reading = {heads: [head([0.2, 0.4], 0.1), head([0.6, 0], 0.3)], window: null};
  const fused = (how) => [...fuseHeads(reading, how, head([0, 0], 0)).map].map((value) => Number(value.toFixed(4)));
  assert.deepEqual(
    [fused('mean'), fused('max'), fused('min')],
    [
      [0.4, 0.2],
      [0.6, 0.4],
      [0.2, 0],
    ],
  );
  assert.ok(Math.abs(fuseHeads(reading, 'mean', head([0, 0], 0)).padding - 0.2) < 1e-9);
});

test('between two patches values are mixed; a patch outside the window counts for nothing', () => {
  const mixed = interpolate(Float32Array.of(0, 1), undefined, 1, 2, 2, new Float32Array(8));
  assert.deepEqual([...mixed].slice(0, 4), [0, 0.25, 0.75, 1]);
  const alone = interpolate(Float32Array.of(0.5, 9), Uint8Array.of(1, 0), 1, 2, 2, new Float32Array(8));
  assert.deepEqual([...alone].slice(0, 3), [0.5, 0.5, 0.5]);
});
