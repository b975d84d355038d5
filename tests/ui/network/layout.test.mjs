// Columns of the network on any stage, and what is under a point of it.

import assert from 'node:assert/strict';
import test from 'node:test';

import {carried, headBoxes, hitAt, isIn, layOut, placeOf, tiled} from '../../../vitexplorer/ui/network/layout.js';

const STAGES = [
  {width: 1304, height: 586},
  {width: 1780, height: 780},
  {width: 1230, height: 450},
  {width: 366, height: 0},
];
const NETWORKS = [
  {blocks: 6, heads: 3, lines: 3},
  {blocks: 12, heads: 12, lines: 3},
  {blocks: 24, heads: 16, lines: 1},
  {blocks: 40, heads: 24, lines: 3},
  {blocks: 10, heads: 8, lines: 0, aspect: 1.5},
];
const CASES = STAGES.flatMap((stage) => NETWORKS.map((network) => ({aspect: 1, ...stage, ...network})));

const overlap = ([x, y, w, h], [u, v, a, b]) => x < u + a && u < x + w && y < v + b && v < y + h;

test('grids, heads and the image lie on the stage, apart from each other', () => {
  for (const wanted of CASES) {
    const layout = layOut({...wanted, columns: wanted.blocks + 3});
    const columns = layout.boxes.slice(2, -1);
    const heads = columns.flatMap((_, i) => headBoxes(layout, i + 2, wanted.heads));
    const all = [layout.image, ...layout.boxes.slice(1), ...heads];
    assert.equal(layout.boxes.length, wanted.blocks + 3);
    for (const [x, y, w, h] of all) {
      assert.ok(w > 0 && h > 0 && x >= 0 && y >= 0, JSON.stringify(wanted));
      assert.ok(x + w <= wanted.width + 1 && y + h <= layout.height + 1, JSON.stringify(wanted));
    }
    for (const [i, box] of all.entries())
      for (const other of all.slice(i + 1)) assert.ok(!overlap(box, other), JSON.stringify({wanted, box, other}));
    assert.ok(layout.height >= wanted.height);
  }
});

test('twelve blocks of twelve heads fit a laptop without scrolling', () => {
  assert.equal(layOut({width: 1304, height: 586, columns: 15, aspect: 1, heads: 12, lines: 3}).height, 586);
});

test('tiles are as large as the place allows', () => {
  assert.deepEqual(tiled(3, 100, 300, 1), {perRow: 1, side: 100});
  assert.deepEqual(tiled(3, 300, 100, 1), {perRow: 3, side: 100});
  assert.deepEqual(tiled(12, 80, 60, 1), {perRow: 4, side: 20});
});

test('a patch keeps its place in a grid that is coarser, a prefix token its number', () => {
  const square = {naturalHeight: 64, naturalWidth: 64};
  assert.equal(carried(13 * 16 + 6, [16, 16, 4], [8, 8, 8], square), 6 * 8 + 3);
  assert.equal(carried(13 * 16 + 6, [16, 16, 4], [4, 4, 16], square), 3 * 4 + 1);
  assert.equal(carried(-2, [16, 16, 4], [4, 4, 16], square), -2);
  // 40 pixels in patches of 4 and of 16, of which the last reach beyond the image: 3 * 4 + 2 is in the first 16
  assert.equal(carried(3 * 10 + 9, [10, 10, 4], [3, 3, 16], {naturalHeight: 40, naturalWidth: 40}), 0 * 3 + 2);
  assert.equal(carried(2 * 3 + 2, [3, 3, 16], [10, 10, 4], {naturalHeight: 40, naturalWidth: 40}), 9 * 10 + 9);
});

const SCENE = {grids: Array(7).fill([12, 12]), heads: Array(6).fill(3), prefix: 1, lens: true, adds: true, answers: 5};

test('what is painted at a place is hit there', () => {
  const layout = layOut({width: 1304, height: 586, columns: 9, aspect: 1, heads: 3, lines: 3});
  const at = (point) => hitAt(point, layout, SCENE);
  for (let column = 1; column <= 7; column++)
    for (const code of [0, 17, 143, -1])
      assert.deepEqual(at(placeOf(layout.boxes[column], [12, 12], code, 1)), {kind: 'token', column, code});
  headBoxes(layout, 4, 3).forEach(([x, y, w, h], head) => {
    assert.deepEqual(at([x + w / 2, y + h / 2]), {kind: 'head', block: 2, head});
  });
  const [x, y, wide, tall] = layout.boxes[5];
  assert.deepEqual(at([x + wide / 2, y + tall + 10]), {kind: 'block', block: 3});
  assert.deepEqual(at([x + wide / 2, y + tall + 30]), {kind: 'lens', block: 3});
  assert.deepEqual(at([x + wide / 2, y + tall + 50]), {kind: 'adds', block: 3});
  const [left, top, , high] = layout.boxes[8];
  assert.deepEqual(at([left + 4, top + 0.5 * high]), {kind: 'answer', rank: 2});
  const [imageX, imageY, imageWide] = layout.image;
  assert.deepEqual(at([imageX + 1.5 * (imageWide / 12), imageY + 1]), {kind: 'token', column: 1, code: 1});
  assert.equal(at([1, 1]), null);
  assert.ok(isIn(layout.image, [imageX + 1, imageY + 1]));
});
