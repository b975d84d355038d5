// Moments of the pass: from the image alone to the whole picture, one thing after the other.

import assert from 'node:assert/strict';
import test from 'node:test';

import {moment, newPass} from '../../../vitexplorer/ui/network/pass.js';

const BLOCKS = 6;

test('at the start there is the image alone, at the end everything', () => {
  const [first, last] = [moment(0, BLOCKS), moment(BLOCKS + 2, BLOCKS)];
  assert.deepEqual([first.cut, first.links(0), first.tokens(0), first.answer], [0, 0, 0, 0]);
  for (let block = 0; block < BLOCKS; block++) assert.deepEqual([last.links(block), last.tokens(block)], [1, 1]);
  assert.deepEqual([last.cut, last.answer], [1, 1]);
});

test('nothing goes back, and a block reads before it writes', () => {
  let before = [0, 0, 0, 0];
  for (let at = 0; at <= BLOCKS + 2; at += 0.05) {
    const now = moment(at, BLOCKS);
    const strengths = [now.cut, now.links(3), now.tokens(3), now.answer];
    strengths.forEach((strength, i) => {
      assert.ok(strength >= before[i]);
    });
    assert.ok(now.links(3) >= now.tokens(3) && now.tokens(2) >= now.links(3));
    before = strengths;
  }
});

test('steps go to whole moments, within the ends', () => {
  const seen = [];
  globalThis.cancelAnimationFrame = () => {};
  const pass = newPass((at, isRunning) => seen.push([at, isRunning]));
  pass.begin(BLOCKS);
  assert.equal(pass.at, 8);
  pass.by(1);
  assert.equal(pass.at, 8);
  pass.by(-1);
  assert.equal(pass.at, 7);
  pass.to(3.4);
  pass.by(1);
  assert.equal(pass.at, 4);
  pass.to(3.4);
  pass.by(-1);
  assert.equal(pass.at, 3);
  pass.to(-5);
  assert.deepEqual(seen.at(-1), [0, false]);
});
