// The layout of a figure that fits its room, and how it is stretched.

import assert from 'node:assert/strict';
import test from 'node:test';

import {fitted, folded, put, stretched} from '../../../vitexplorer/ui/panel/fitting.js';

const sheet = (width, height, more = {}) => ({data: [], layout: {width, height, font: {size: 15}, ...more}});
const windows = [sheet(350, 430), sheet(620, 440), sheet(900, 620)];

test('the widest layout that has room is taken', () => {
  assert.equal(fitted(windows, 912, 636).layout.width, 900);
  assert.equal(fitted(windows, 850, 636).layout.width, 900); // a little narrower does no harm
  assert.equal(fitted(windows, 760, 456).layout.width, 620);
  assert.equal(fitted(windows, 300, Infinity).layout.width, 350);
});

test('a layout that is too high makes way for one that is not, unless that would look lost', () => {
  assert.equal(fitted([sheet(620, 440), sheet(900, 900)], 912, 636).layout.width, 620);
  assert.equal(fitted([sheet(350, 430), sheet(900, 900)], 912, 636).layout.width, 900);
});

test('a layout that leaves the rest of its sheet empty counts as wide as the sheet', () => {
  const narrow = sheet(520, 600, {meta: {sheet: 880}});
  assert.equal(fitted([sheet(420, 440, {meta: {sheet: 620}}), narrow, sheet(700, 800)], 912, 600), narrow);
});

test('axes and bars are stretched, letters are not', () => {
  const {layout} = stretched(
    sheet(600, 400, {coloraxis: {cmin: 0, colorbar: {len: 300, thickness: 16}}}),
    900,
    500,
    'Inter',
  );
  assert.deepEqual([layout.width, layout.height, layout.coloraxis.colorbar.len], [750, 500, 375]);
  assert.deepEqual([layout.font, layout.coloraxis.cmin], [{size: 15, family: 'Inter'}, 0]);
});

test('what is too high for its room is not made smaller than it can be read', () => {
  assert.equal(stretched(sheet(900, 1200), 912, 636, '').layout.height, 1200);
});

test('what the parts of a file share is put back', () => {
  const file = {
    windows: [{data: [{z: {dtype: 'f8', bdata: {shared: 0}}}], layout: {}}],
    slide: {data: [null, {shared: 0}], layout: {coloraxis: {colorscale: {shared: 1}}}},
    shared: ['long', [[0, 'black']]],
  };
  assert.deepEqual(put(file), {
    windows: [{data: [{z: {dtype: 'f8', bdata: 'long'}}], layout: {}}],
    slide: {data: [null, 'long'], layout: {coloraxis: {colorscale: [[0, 'black']]}}},
  });
});

test('below its fold a layout is cut off, and its colour bar stays where it was', () => {
  const coloraxis = {colorbar: {x: 0.5, y: 0.75, len: 100}};
  const {layout} = folded(sheet(600, 800, {coloraxis, yaxis: {visible: false}, meta: {fold: 400, above: 500}}));
  assert.deepEqual([layout.height, layout.yaxis.range, layout.coloraxis.colorbar.y], [400, [-400, 0], 0.5]);
  assert.deepEqual([layout.width, layout.xaxis.range, layout.coloraxis.colorbar.x], [500, [0, 500], 0.6]);
  assert.equal(folded(sheet(600, 800)).layout.height, 800);
});
