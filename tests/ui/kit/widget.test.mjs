// A question that waits is sent with the latest data.

import assert from 'node:assert/strict';
import test from 'node:test';

import {latestOnly} from '../../../vitexplorer/ui/kit/widget.js';

test('a question that waits is asked with the latest data, and only one that Python knows', () => {
  const sent = [];
  const trigger = latestOnly((kind, data) => sent.push([kind, data]), ['ask']);
  trigger('ask', {view: 'a', old: true});
  trigger('ask', {view: 'b'});
  assert.deepEqual(sent[0], ['ask', {view: 'b'}]);
  assert.throws(() => trigger('aks', {}), /no event 'aks'/);
});

test('a question that had to wait is sent with the latest data, each kind with its own', () => {
  const waiting = [];
  const trigger = latestOnly((kind, data) => waiting.push([kind, data]), ['ask', 'stop']);
  trigger('ask', {view: 'rollout', block: 3});
  trigger('stop', {});
  trigger('ask', {view: 'pooling'});
  assert.deepEqual(waiting, [
    ['ask', {view: 'pooling'}],
    ['stop', {}],
    ['ask', {view: 'pooling'}],
  ]);
  assert.throws(() => trigger('tell', {}), /no event 'tell', only ask, stop/);
});
