// The selection that the mouse, the keys, Python or an address ask for.

import assert from 'node:assert/strict';
import test from 'node:test';

import {gridOf} from '../../../vitexplorer/ui/canvas/grids.js';
import {decodePayload, MEAN} from '../../../vitexplorer/ui/canvas/payload.js';
import {newView} from '../../../vitexplorer/ui/canvas/scene.js';
import {
  carryOver,
  firstState,
  follows,
  keyNow,
  neighbour,
  nextHead,
  queryNow,
  resting,
  selectionOf,
  settle,
} from '../../../vitexplorer/ui/canvas/selection.js';
import {packed, VALUE, VIT} from './packed_attention.mjs';

function blockOf(changes = {}, windows = VIT) {
  const value = {...VALUE, block: 3, depth: 12, ...changes};
  const grids = {queries: gridOf(value, null, 'queries'), keys: gridOf(value, null, 'keys')};
  return {value, payload: decodePayload(packed(windows), value), image: null, grids};
}

test('the query follows the mouse until a patch is pinned; then keys are read', () => {
  const block = blockOf();
  const state = firstState();
  carryOver(state, null, block);
  assert.equal(queryNow(state, block), -1);
  state.hover = {y: 0.5, x: 0.75};
  assert.deepEqual([queryNow(state, block), keyNow(state, block)], [1, null]);
  settle(state, block.value, {query: '0,0'});
  assert.deepEqual([follows(state, block), queryNow(state, block), keyNow(state, block)], [false, 0, 1]);
  settle(state, block.value, {query: 'mean'});
  assert.deepEqual([state.pinned, state.base], [null, MEAN]);
});

test('what makes no sense changes nothing', () => {
  const block = blockOf();
  const state = firstState();
  const before = {...state};
  settle(state, block.value, {
    head: 9,
    query: '9,9',
    mode: 'x',
    colormap: 'jet',
    scale: '',
    opacity: NaN,
    keep_mass: 'a',
    smooth: 1,
  });
  assert.deepEqual(state, before);
  settle(state, block.value, {head: '1', opacity: 7, keep_mass: 0, colormap: 'viridis', smooth: true});
  assert.deepEqual(
    [state.head, state.fusion, state.opacity, state.keep_mass, state.colormap],
    [1, 'mean', 1, 0.01, 'viridis'],
  );
});

test('where a token does not look, another one does, and the wish is kept', () => {
  const block = blockOf({silent: ['cls']}, [{...VIT[0], queries: [0, 1, MEAN]}]);
  const state = firstState();
  carryOver(state, null, block);
  assert.equal(state.base, -1);
  assert.equal(resting(state, block), MEAN);
  assert.equal(selectionOf(state, block).query, 'cls');
});

test('a pin keeps its place on the picture from one grid to another', () => {
  const fine = blockOf({rows: 2, cols: 4, prefix: []}, [{keys: [0, 1, 2], queries: [0, 1, 2], heads: VIT[0].heads}]);
  const state = firstState();
  carryOver(state, null, fine);
  settle(state, fine.value, {query: '1,3'});
  const coarse = blockOf();
  assert.ok(carryOver(state, fine, coarse));
  assert.equal(state.pinned, 1);
  settle(state, coarse.value, {head: 1});
  const alone = blockOf({heads: 1}, [{...VIT[0], heads: VIT[0].heads.slice(0, 1)}]);
  assert.ok(!carryOver(state, coarse, alone));
  assert.deepEqual([state.head, state.pinned], ['mean', 1]);
});

test('arrow keys move the query inside the grid, and heads follow each other around', () => {
  const block = blockOf();
  const state = firstState();
  carryOver(state, null, block);
  assert.deepEqual(neighbour(state, block, 0, 1), {query: [0, 1]}); // from the middle: no patch is the query
  settle(state, block.value, {query: '0,1'});
  assert.deepEqual(neighbour(state, block, 1, 1), {query: [0, 1]});
  assert.deepEqual(neighbour(state, block, 0, -1), {query: [0, 0]});
  const heads = [];
  for (let i = 0; i < 3; i++) {
    heads.push(nextHead(state, block.value, 1));
    settle(state, block.value, {head: heads.at(-1)});
  }
  assert.deepEqual(heads, [0, 1, 'mean']);
  assert.equal(nextHead(state, block.value, -1), 1);
});

test('a frame has the map of the head, the top of its scale, and frames around query and key', () => {
  const block = blockOf();
  const state = firstState();
  const view = newView(block);
  carryOver(state, null, block);
  settle(state, block.value, {query: '0,0', head: 1});
  state.hover = {y: 0.5, x: 0.75};
  const tops = ['map', 'heads', 'block'].map((scale) => {
    settle(state, block.value, {scale});
    return view(state).scene.top;
  });
  tops.forEach((top, i) => assert.ok(Math.abs(top - [0.6, 0.6, 1][i]) < 0.01));
  const {code, key, scene, heads} = view(state);
  assert.deepEqual([code, key, heads.length], [0, 1, 3]);
  assert.deepEqual(
    scene.frames.map(({cell, role}) => `${role} ${cell}`),
    ['key 1', 'query 0'],
  );
  assert.ok(Math.abs(heads[0].map[0] - 0.425) < 0.005);
});
