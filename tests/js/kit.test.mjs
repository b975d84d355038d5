// What the kit promises every component: the latest question, the address bar, sentences, lines.

import assert from 'node:assert/strict';
import test from 'node:test';

import {onWritten, writeAddress} from '../../vitexplorer/ui/kit/address.js';
import {filled} from '../../vitexplorer/ui/kit/dom.js';
import {followed, labelled, listed} from '../../vitexplorer/ui/kit/punctuation.js';
import {addressOf, isDone, scrollFor} from '../../vitexplorer/ui/shell/guide_progress.js';
import {latestOnly} from '../../vitexplorer/ui/kit/widget.js';
import {wrapped} from '../../vitexplorer/ui/kit/wrapping.js';

test('a question that had to wait is sent with the latest data, each kind with its own', () => {
  const waiting = [], trigger = latestOnly((kind, data) => waiting.push([kind, data]), ['ask', 'stop']);
  trigger('ask', {view: 'rollout', block: 3});
  trigger('stop', {});
  trigger('ask', {view: 'pooling'});
  assert.deepEqual(waiting, [['ask', {view: 'pooling'}], ['stop', {}], ['ask', {view: 'pooling'}]]);
  assert.throws(() => trigger('tell', {}), /no event 'tell', only ask, stop/);
});

test('the address bar holds what is chosen, loses what is empty, keeps the rest, and says so once', (t) => {
  const written = [];
  let noticed = 0;
  globalThis.document = new EventTarget();
  onWritten(() => { noticed += 1; });
  globalThis.location = {href: 'https://here/?lang=zh&head=2'};
  globalThis.history = {state: null, replaceState: (state, title, url) => written.push(String(url))};
  t.after(() => { for (const name of ['location', 'history', 'document']) delete globalThis[name]; });
  writeAddress({block: 4, head: ''});
  writeAddress({head: 2});
  assert.deepEqual(written, ['https://here/?lang=zh&block=4']);
  assert.equal(noticed, 1);
});

test('names are filled in, and one without a value is left to be noticed', () => {
  assert.equal(filled('{a} of {b}, {c}', {a: 0, b: '{a}'}), '0 of {a}, {c}');
});

test('lines break between words and between Chinese signs, and lose nothing', () => {
  const width = (text) => text.length;
  assert.deepEqual(wrapped('one two three', 7, width), ['one two', 'three']);
  assert.deepEqual(wrapped('注意力图', 3, width), ['注意力', '图']);
  assert.deepEqual(wrapped('unbreakable is', 5, width), ['unbreakable', 'is']);
});

test('what stands between words is of full width after Chinese ones', () => {
  assert.equal(labelled('何时会误导', ''), '何时会误导：');
  assert.equal(labelled('权重', 'DINO'), '权重：DINO');
  assert.equal(labelled('Weights', '随机'), 'Weights: 随机');
  assert.equal(listed(['红 3', '绿 4']), '红 3，绿 4');
  assert.equal(listed(['red 3', 'green 4']), 'red 3, green 4');
  assert.equal(followed('切成图块', '指向一个图块。'), '切成图块。指向一个图块。');
  assert.equal(followed('Cut', 'Point at one.'), 'Cut. Point at one.');
});

test('a step of the path keeps the image and how a person looks, and is done when the address says so', () => {
  const query = addressOf({model: 'a', room: 'attention', block: '5'}, 'heads', '?image=cat&lang=zh&size=384&step=cut');
  assert.equal(query, 'image=cat&lang=zh&model=a&room=attention&block=5&step=heads');
  assert.equal(isDone({block: '2', head: '1'}, '?block=2&head=1'), true);
  assert.equal(isDone({block: '2', head: '1'}, '?block=2'), false);
  assert.equal(isDone({size: '\\d.*'}, '?size=384x512'), true);
  assert.equal(isDone({block: '2'}, '?block=12'), false);
});

test('what a step lights up is scrolled between the bar and the sheet, its beginning first', () => {
  assert.equal(scrollFor({top: 100, bottom: 300}, 60, 400), 0);
  assert.equal(scrollFor({top: 500, bottom: 600}, 60, 400), 216);  // just so far that its end is seen
  assert.equal(scrollFor({top: 500, bottom: 1200}, 60, 400), 424);  // larger than the room between
  assert.equal(scrollFor({top: -50, bottom: 200}, 60, 400), -126);
  assert.equal(scrollFor({top: 76, bottom: 900}, 60, 400), 0);  // is there
});
