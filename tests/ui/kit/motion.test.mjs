// Motion: a share that grows to 1, which a press ends and a reader who prefers no motion never sees.

import assert from 'node:assert/strict';
import test from 'node:test';

import {grow} from '../../../vitexplorer/ui/kit/motion.js';

function browser(t, still) {
  const waiting = new Map();
  const hears = {};
  const globals = {
    matchMedia: () => ({matches: still}),
    addEventListener: (act, hear) => {
      hears[act] = hear;
    },
    requestAnimationFrame: (step) => {
      waiting.set(waiting.size, step);
      return waiting.size - 1;
    },
    cancelAnimationFrame: (frame) => waiting.delete(frame),
  };
  Object.assign(globalThis, globals);
  t.after(() => {
    for (const name of Object.keys(globals)) delete globalThis[name];
  });
  const next = (time) => {
    const steps = [...waiting.values()];
    waiting.clear();
    for (const step of steps) step(time);
  };
  return {next, waiting, press: () => hears.pointerdown()};
}

test('a share grows from 0 to 1 and stays there', (t) => {
  const {next, waiting} = browser(t, false);
  const seen = [];
  const since = performance.now();
  grow((share) => seen.push(share));
  for (const after of [100, 200, 400]) next(since + after);
  assert.equal(seen[0], 0);
  assert.equal(seen.at(-1), 1);
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  assert.equal(seen.length, 4);
  assert.equal(waiting.size, 0);
});

test('a press ends it at 1, once', (t) => {
  const {press, waiting} = browser(t, false);
  const seen = [];
  grow((share) => seen.push(share));
  press();
  press();
  assert.deepEqual(seen, [0, 1]);
  assert.equal(waiting.size, 0);
});

test('without motion the end is there at once', (t) => {
  browser(t, true);
  const seen = [];
  grow((share) => seen.push(share));
  assert.deepEqual(seen, [1]);
});
