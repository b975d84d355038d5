// Lists of kept views: their files, and the parameters that belong to the picture.

import assert from 'node:assert/strict';
import test from 'node:test';

import {pictureQuery, readList, withDisplay, writeList} from '../../../vitexplorer/ui/shell/saved_list.js';

test('a list comes back from its file without its pictures', () => {
  const views = [
    {title: '<b>鱼</b>', query: 'model=a&block=2', picture: 'data:image/png;base64,AA'},
    {title: 'b', query: ''},
  ];
  assert.deepEqual(readList(writeList(views)), [
    {title: '<b>鱼</b>', query: 'model=a&block=2'},
    {title: 'b', query: ''},
  ]);
});

test('what is no list is not read', () => {
  for (const text of [
    '',
    '[]',
    'null',
    '{"views": []}',
    '{"kind": "ViT Explorer: kept views", "views": {}}',
    '{"kind": "ViT Explorer: kept views", "views": [{"title": 3, "query": ""}]}',
    '{"kind": "ViT Explorer: kept views", "views": [null]}',
  ])
    assert.equal(readList(text), null, text);
});

test('a link says what is looked at; language, theme and lecture mode stay those of the person', () => {
  assert.equal(pictureQuery('?lang=zh&model=a&__theme=dark&lecture=1&query=4,9'), 'model=a&query=4%2C9');
  assert.equal(withDisplay('model=a', '?lang=zh&model=b&lecture=1'), '?model=a&lang=zh&lecture=1');
});
