// Steps of the guided path: their address, their end, their place on the screen.

import assert from 'node:assert/strict';
import test from 'node:test';

import {addressBefore, addressOf, isDone, scrollFor} from '../../../../vitexplorer/ui/shell/guide/guide_progress.js';

test('a step of the path keeps the image and how a person looks, and is done when the address says so', () => {
  const query = addressOf({model: 'a', room: 'attention', block: '5'}, 'heads', '?image=cat&lang=zh&size=384&step=cut');
  assert.equal(query, 'image=cat&lang=zh&model=a&room=attention&block=5&step=heads');
  assert.equal(isDone({block: '2', head: '1'}, '?block=2&head=1'), true);
  assert.equal(isDone({block: '2', head: '1'}, '?block=2'), false);
  assert.equal(isDone({size: '\\d.*'}, '?size=384x512'), true);
  assert.equal(isDone({block: '2'}, '?block=12'), false);
});

test('closing gives back everything but the image and how a person looks', () => {
  const query = addressBefore('?image=cat&model=a&block=3&room=flow&lang=zh', '?image=dog&model=b&room=size&step=cut');
  assert.equal(query, 'model=a&block=3&room=flow&image=dog');
});

test('what a step lights up is scrolled between the bar and the sheet, its beginning first', () => {
  assert.equal(scrollFor({top: 100, bottom: 300}, 60, 400), 0);
  assert.equal(scrollFor({top: 500, bottom: 600}, 60, 400), 216); // just so far that its end is seen
  assert.equal(scrollFor({top: 500, bottom: 1200}, 60, 400), 424); // larger than the room between
  assert.equal(scrollFor({top: -50, bottom: 200}, 60, 400), -126);
  assert.equal(scrollFor({top: 76, bottom: 900}, 60, 400), 0); // is there
});
