// A folder as one zip, which is how the server takes images. Nothing is compressed: pictures are already.
// Format: APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3 and 4.4.

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20; // 2.0, which has folders
const UTF8 = 1 << 11; // flag: names are UTF-8
const DATE = (1 << 5) | 1; // 1980-01-01, so that a folder always gives the same zip
export const MOST_FILES = 0xffff;
export const MOST_BYTES = 0xffffffff;

const TABLE = Uint32Array.from({length: 256}, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/** @param {Uint8Array} bytes */
export function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 0xff];
  return ~crc >>> 0;
}

/** Packs numbers, given as pairs of their bytes and their value, in little-endian order. */
function packed(...fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [bytes, value] of fields) {
    if (bytes === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += bytes;
  }
  return view.buffer;
}

/**
 * @typedef {object} Member
 * @property {string} path path in the zip, with slashes
 * @property {Blob} file
 */

/**
 * Returns files as a zip; null where they are too many or too large for one.
 *
 * @param {Member[]} members
 * @param {(share: number) => void} [progress] called with the share that was read
 */
export async function zipped(members, progress = () => {}) {
  const bytes = members.reduce((sum, {path, file}) => sum + file.size + 2 * path.length + 100, 0);
  if (members.length > MOST_FILES || bytes > MOST_BYTES) return null;
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [number, {path, file}] of members.entries()) {
    const name = new TextEncoder().encode(path);
    const crc = crc32(new Uint8Array(await file.arrayBuffer()));
    /** @type {[number, number][]} */
    const common = [
      [2, VERSION],
      [2, UTF8],
      [2, 0], // not compressed
      [2, 0],
      [2, DATE],
      [4, crc],
      [4, file.size],
      [4, file.size],
      [2, name.length],
      [2, 0],
    ];
    parts.push(packed([4, LOCAL], ...common), name, file);
    directory.push(packed([4, CENTRAL], [2, VERSION], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), name);
    offset += 30 + name.length + file.size;
    progress((number + 1) / members.length);
  }
  const size = new Blob(directory).size;
  const count = members.length;
  const end = packed([4, END], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, offset], [2, 0]);
  return new Blob([...parts, ...directory, end], {type: 'application/zip'});
}

/** Returns a folder's members as its input field has them: their paths begin with the folder's name. */
export function chosenFolder(files) {
  const [name] = files[0].webkitRelativePath.split('/');
  const members = files.map((file) => ({path: file.webkitRelativePath.slice(name.length + 1), file}));
  return {name, members: members.filter(({path}) => !isHidden(path))};
}

const isHidden = (path) => path.split('/').some((part) => part.startsWith('.'));

/**
 * Returns the members of a dropped folder. Call `entryOf` first, within the event, whose items are gone afterwards.
 *
 * @param {any} folder
 * @returns {Promise<{name: string, members: Member[]}>}
 */
export async function droppedFolder(folder) {
  const members = [];
  const collect = async (directory, before) => {
    const reader = directory.createReader();
    for (;;) {
      const entries = await new Promise((done, fail) => reader.readEntries(done, fail)); // at most a hundred at once
      if (!entries.length) return;
      for (const entry of entries) {
        const path = before + entry.name;
        if (entry.isDirectory) await collect(entry, `${path}/`);
        else members.push({path, file: await new Promise((done, fail) => entry.file(done, fail))});
      }
    }
  };
  await collect(folder, '');
  return {name: folder.name, members: members.filter(({path}) => !isHidden(path))};
}

/**
 * Returns the one folder that is dropped, or null.
 *
 * @param {DataTransfer} transfer
 */
export function entryOf({items}) {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  return entries.length === 1 && entries[0].isDirectory ? entries[0] : null;
}
