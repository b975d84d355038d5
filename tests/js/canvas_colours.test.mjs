// Scales, colours, masks and words: from a weight to what is seen and read.

import assert from 'node:assert/strict';
import test from 'node:test';

import {
  SIGNED, barOf, heightOf, levelOf, paintOf, paintOfDropped, pixelTable, rgbTable,
} from '../../vitexplorer/ui/canvas/colours.js';
import {fuseHeads, interpolate, massMask} from '../../vitexplorer/ui/canvas/maps.js';
import {tableOf} from '../../vitexplorer/ui/canvas/table.js';
import {percent, say} from '../../vitexplorer/ui/canvas/texts.js';
import {fileName} from '../../vitexplorer/ui/kit/saving.js';
import {latestOnly} from '../../vitexplorer/ui/kit/widget.js';
import {wrapped} from '../../vitexplorer/ui/kit/wrapping.js';

test('a scale begins at 0, or at minus its top where weights may be negative', () => {
  assert.deepEqual([0, 0.1, 0.2, 0.3, -0.1].map((value) => heightOf(value, 0.2, 'magma')), [0, 0.5, 1, 1, 0]);
  assert.deepEqual([-0.2, 0, 0.2].map((value) => levelOf(value, 0.2, SIGNED)), [0, 128, 255]);
  assert.equal(heightOf(0.1, 0, 'magma'), 0);
});

test('the ends of a colour map are its first and last entry, and between two entries colours are mixed', () => {
  const viridis = rgbTable('viridis');
  assert.equal(viridis.length, 256);
  assert.deepEqual([viridis[0], viridis[5], viridis[255]], [[0x44, 0x01, 0x54], [0x46, 0x08, 0x5c], [0xfd, 0xe7, 0x25]]);
  assert.ok(viridis[2][1] > 0x01 && viridis[2][1] < 0x08);
});

test('an overlay is clearer where there is less attention, a revealed picture darker', () => {
  assert.equal(paintOf('overlay', 'magma', 0.5, 255)[3], 0.5);
  assert.equal(paintOf('overlay', 'magma', 0.5, 0)[3], 0);
  assert.equal(paintOf('map', 'magma', 0.5, 0)[3], 1);
  assert.deepEqual([paintOf('reveal', 'magma', 0.5, 255)[3], paintOf('reveal', 'magma', 0.5, 0)[3]], [0, 0.5]);
  assert.equal(paintOf('reveal', SIGNED, 1, 0)[3], 0);  // the strongest negative weight
  assert.deepEqual(['overlay', 'map', 'reveal'].map((mode) => paintOfDropped(mode, 0.5)[3]), [0, 1, 0.5]);
  const [red, green, blue, alpha] = new Uint8Array(pixelTable('map', 'viridis', 1).levels.buffer);
  assert.deepEqual([red, green, blue, alpha], [0x44, 0x01, 0x54, 255]);
  assert.deepEqual(barOf('reveal', 'viridis')[255], rgbTable('greys')[255]);
});

test('the mask keeps the fewest patches that hold the mass', () => {
  const map = Float32Array.of(0.5, 0.1, 0.3, 0.1);
  assert.equal(massMask(map, 1), null);
  assert.deepEqual([...massMask(map, 0.75)], [1, 0, 1, 0]);
  assert.deepEqual([...massMask(map, 0.85)], [1, 0, 1, 1]);  // of equal ones the later
  assert.deepEqual([...massMask(Float32Array.of(-0.9, 0.1), 0.5)], [1, 0]);
});

test('heads are fused on true values', () => {
  const head = (map, padding) => ({map: Float32Array.from(map), prefix: Float32Array.of(0.1), patches: 0.5, padding, error: 0.01, max: 0, peak: 0});
  const reading = {heads: [head([0.2, 0.4], 0.1), head([0.6, 0], 0.3)], window: null};
  const fused = (how) => [...fuseHeads(reading, how, head([0, 0], 0)).map].map((value) => Number(value.toFixed(4)));
  assert.deepEqual([fused('mean'), fused('max'), fused('min')], [[0.4, 0.2], [0.6, 0.4], [0.2, 0]]);
  assert.ok(Math.abs(fuseHeads(reading, 'mean', head([0, 0], 0)).padding - 0.2) < 1e-9);
});

test('between two patches values are mixed; a patch outside the window counts for nothing', () => {
  const mixed = interpolate(Float32Array.of(0, 1), undefined, 1, 2, 2, new Float32Array(8));
  assert.deepEqual([...mixed].slice(0, 4), [0, 0.25, 0.75, 1]);
  const alone = interpolate(Float32Array.of(0.5, 9), Uint8Array.of(1, 0), 1, 2, 2, new Float32Array(8));
  assert.deepEqual([...alone].slice(0, 3), [0.5, 0.5, 0.5]);
});

test('shares are percentages of about three digits', () => {
  const thin = '\u202f';
  assert.deepEqual([1, 0.123456, 0.0123456, 0.00123456, 0, -0.5, 1e-7].map((share) => percent(share)),
    [`100${thin}%`, `12.3${thin}%`, `1.23${thin}%`, `0.123${thin}%`, `0${thin}%`, `\u221250.0${thin}%`, `<${thin}0.001${thin}%`]);
});

test('words are filled in, and what is missing is seen', () => {
  assert.equal(say({patch: 'row {row}, {col}'}, 'patch', {row: 0}), 'row 0, {col}');
  assert.equal(say({}, 'no_such_word'), 'no_such_word');
});

test('a table has a line for each key, quoted names, and no share outside the window', () => {
  const scene = {grid: {cols: 2}, window: {inside: [1, 0]}, mask: Uint8Array.of(0, 0)};
  const shown = {map: Float32Array.of(0.25, 0), prefix: Float32Array.of(0.5), padding: 0.25};
  const table = tableOf({prefix: ['a "b"']}, {prefixKeys: [true]}, scene, shown, {view: 'a, b', run: ''});
  assert.deepEqual(table.split('\n'), [
    'view,run,token,row,col,share,shown', '"a, b",,"a ""b""",,,0.5,', '"a, b",,"patch",0,0,0.25,0',
    '"a, b",,"patch",0,1,,0', '"a, b",,"padding",,,0.25,', '',
  ]);
});

test('lines break between words, and between any two Chinese signs', () => {
  const measure = (text) => text.length;
  assert.deepEqual(wrapped('one two three', 7, measure), ['one two', 'three']);
  assert.deepEqual(wrapped('unbreakable x', 5, measure), ['unbreakable', 'x']);
  assert.deepEqual(wrapped('注意力权重', 2, measure), ['注意', '力权', '重']);
  assert.deepEqual(wrapped('', 5, measure), ['']);
});

test('a file name has letters, digits, dots and dashes', () => {
  assert.equal(fileName(['vit/tiny', '', 'head 3', '注意 3,7'], 'png'), 'vit-tiny_head-3_注意-3-7.png');
});

test('a question that waits is asked with the latest data, and only one that Python knows', () => {
  const sent = [], trigger = latestOnly((kind, data) => sent.push([kind, data]), ['ask']);
  trigger('ask', {view: 'a', old: true});
  trigger('ask', {view: 'b'});
  assert.deepEqual(sent[0], ['ask', {view: 'b'}]);
  assert.throws(() => trigger('aks', {}), /no event 'aks'/);
});
