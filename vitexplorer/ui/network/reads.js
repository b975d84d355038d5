// Attention of the followed token in every block: full rows as they arrive, and their strongest entries as links.

import {borderOf} from '../canvas/grids.js';
import {decodePayload, decodeRows, hasQuery, MEAN, readQuery} from '../canvas/payload.js';
import {carried} from './layout.js';

export const LINKS = 8; // strongest keys of each head, as in the view
const KEPT = 64; // most tokens whose rows stay
const AHEAD = 8 << 20; // most bytes of all blocks that are fetched to follow the mouse

/**
 * @typedef {object} Read attention of the followed token in one block
 * @property {number} code the token among this block's queries
 * @property {import('../canvas/payload.js').Head[]} heads empty where the token asks for nothing
 * @property {{code: number, weight: number}[][]} links of each head, strongest first
 * @property {import('../canvas/grids.js').Box[]} border lines around the window that the token sees, in keys
 */

/**
 * Finds the strongest keys of a head: patches by index, prefix tokens by -1 - i.
 *
 * @param {{map: ArrayLike<number>, prefix: ArrayLike<number>}} head
 * @param {number} count
 */
export function strongest({map, prefix}, count = LINKS) {
  const best = [];
  const offer = (code, weight) => {
    if (best.length === count && weight <= best[count - 1].weight) return;
    let at = best.length;
    while (at > 0 && best[at - 1].weight < weight) at--;
    best.splice(at, 0, {code, weight});
    if (best.length > count) best.pop();
  };
  for (let i = 0; i < prefix.length; i++) offer(-1 - i, prefix[i]);
  for (let i = 0; i < map.length; i++) offer(i, map[i]);
  return best;
}

/** @param {any} value of one block with `prefix` */
const silent = (value, code) => value.silent.includes(code >= 0 ? 'patches' : value.prefix[-1 - code]);

/**
 * Keeps the rows of the present value, and the whole blocks once they are fetched.
 *
 * @param {(url: string) => Promise<ArrayBuffer>} bytes
 */
export function newReads(bytes) {
  let value = null;
  let image = null;
  /** @type {Map<number, {facts: any, payload: any}[]>} rows by the token that they belong to */
  const rows = new Map();
  let blocks = []; // whole blocks
  let asked = ''; // `name` for which the whole blocks were asked for
  let name = ''; // address of the colours, another one for another pass

  const facts = () => value.strip.blocks.map((block) => ({...value, ...block}));

  return {
    /** Takes a value with its image and fetches the rows of its token. */
    async take(next, code, picture) {
      [value, image] = [next, picture];
      if (next.colours.url !== name) {
        rows.clear();
        blocks = [];
        name = next.colours.url;
      }
      if (!next.strip) return;
      rows.set(code, decodeRows(await bytes(next.strip.rows.url), next));
      if (rows.size > KEPT) rows.delete(rows.keys().next().value);
    },
    /** Fetches the whole blocks where they are small, so that any token can be followed without the server. */
    async ahead() {
      const mine = name;
      if (blocks.length || !value.strip || asked === mine) return blocks.length > 0;
      if (value.all_bytes > AHEAD || !value.strip.blocks.every((block) => block.attention)) return false;
      asked = mine;
      const all = facts();
      const files = await Promise.all(all.map(({attention}) => bytes(attention.url))).catch((error) => {
        asked = ''; // so that it is tried again
        throw error;
      });
      if (mine !== name) return false;
      blocks = files.map((file, i) => decodePayload(file, all[i]));
      return true;
    },
    /** True where the rows of a token are here. */
    has: (code) => rows.has(code) || blocks.length > 0,
    /**
     * Reads the attention of a token in every block.
     *
     * @param {number} code index of a patch in the first grid, or -1 - i, or MEAN
     * @returns {Read[]}
     */
    of(code) {
      const kept = rows.get(code);
      return facts().map((block, i) => {
        const at = carried(code, value.grids[0], value.grids[i + 1], image);
        const payload = kept ? kept[i].payload : blocks[i];
        const query = kept ? kept[i].payload.codes[0] : at;
        if (!payload || (at !== MEAN && silent(block, at)) || !hasQuery(payload, query)) {
          return {code: at, heads: [], links: [], border: []};
        }
        const {heads, window} = readQuery(payload, query);
        const border = window ? borderOf(window, payload.rows, payload.cols) : [];
        return {code: at, heads, links: heads.map((head) => strongest(head)), border};
      });
    },
  };
}
