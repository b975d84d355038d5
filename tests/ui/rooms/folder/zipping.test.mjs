// A folder as one zip.

import assert from 'node:assert/strict';
import test from 'node:test';

import {
  chosenFolder,
  crc32,
  droppedFolder,
  entryOf,
  MOST_FILES,
  zipped,
} from '../../../../vitexplorer/ui/rooms/folder/zipping.js';

const bytesOf = async (blob) => new DataView(await blob.arrayBuffer());

test('the checksum is the one of the standard', () => {
  assert.equal(crc32(new TextEncoder().encode('123456789')), 0xcbf43926);
  assert.equal(crc32(new Uint8Array()), 0);
});

test('a zip begins with a member and ends with the directory, at the place that its end names', async () => {
  const shares = [];
  const members = [
    {path: '猫/a.png', file: new Blob(['one'])},
    {path: 'b.png', file: new Blob([])},
  ];
  const zip = await bytesOf(await zipped(members, (share) => shares.push(share)));
  assert.deepEqual(shares, [0.5, 1]);
  assert.equal(zip.getUint32(0, true), 0x04034b50);
  const end = zip.byteLength - 22;
  assert.equal(zip.getUint32(end, true), 0x06054b50);
  assert.equal(zip.getUint16(end + 10, true), 2);
  const directory = zip.getUint32(end + 16, true);
  assert.equal(zip.getUint32(directory, true), 0x02014b50);
  assert.equal(directory + zip.getUint32(end + 12, true), end);
});

test('what fits no zip is none', async () => {
  const file = new Blob([]);
  assert.equal(await zipped(Array.from({length: MOST_FILES + 1}, (_, at) => ({path: String(at), file}))), null);
  assert.equal(await zipped([{path: 'a', file: /** @type {any} */ ({size: 2 ** 32})}]), null);
});

test('a chosen folder gives its name and its files, without hidden ones', () => {
  const files = ['pets/cat/a.png', 'pets/.DS_Store', 'pets/.git/x', 'pets/b.png'].map((webkitRelativePath) => ({
    webkitRelativePath,
  }));
  const {name, members} = chosenFolder(files);
  assert.equal(name, 'pets');
  assert.deepEqual(
    members.map(({path}) => path),
    ['cat/a.png', 'b.png'],
  );
});

function entry(name, content) {
  if (!Array.isArray(content)) return {name, isDirectory: false, file: (done) => done(content)};
  const turns = content.map((one) => [one]); // one entry at each reading
  return {name, isDirectory: true, createReader: () => ({readEntries: (done) => done(turns.shift() ?? [])})};
}

test('a dropped folder is read to its last entry', async () => {
  const folder = entry('pets', [entry('cat', [entry('a.png', 1), entry('b.png', 2)]), entry('.hidden', 3)]);
  assert.equal(entryOf(/** @type {any} */ ({items: [{webkitGetAsEntry: () => folder}]})), folder);
  assert.equal(entryOf(/** @type {any} */ ({items: [{webkitGetAsEntry: () => entry('a.zip', 1)}]})), null);
  assert.deepEqual(await droppedFolder(folder), {
    name: 'pets',
    members: [
      {path: 'cat/a.png', file: 1},
      {path: 'cat/b.png', file: 2},
    ],
  });
});
