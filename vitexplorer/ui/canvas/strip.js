// Strip of all heads of all blocks for one query: small maps, each a button that shows its head on the canvas.

import {make, setText} from '../kit/dom.js';
import {listed} from '../kit/formats.js';
import {ARROWS} from '../kit/grid.js';
import {painted} from '../kit/motion.js';
import {percent, say, tokenText} from './captions.js';
import {SIGNED} from './colours.js';
import {massMask} from './maps.js';
import {decodeRows, readQuery} from './payload.js';
import {paintThumb} from './picture.js';

const NUMBER = 18; // height in CSS pixels of the line with a block's number
const REST = 50; // ms; a pointer that crosses the strip rests nowhere so long

/**
 * @param {HTMLElement} below element that holds the strip
 * @param {(url: string) => Promise<ArrayBuffer>} fetchBytes
 * @param {object} hears
 * @param {(place: {block: number, head: number}) => void} hears.choose
 * @param {(block: number) => void} hears.approach called when the pointer rests on a block
 */
export function newStrip(below, fetchBytes, {choose, approach}) {
  const groups = below.querySelector('.groups');
  let url = '';
  let rows = [];
  let tiles = [];
  let cols = [];
  let drawn = '';
  let value = null;
  let latest = null;
  let isLeading = false;
  let resting = 0; // timer of the pointer
  let isLong = /** @type {boolean | null} */ (null);
  let chosen = null; // the current group
  let pressed = null; // the current tile
  let stop = null; // the tile in the tab order

  /** Fetches and draws the rows of a value; without rows the strip is empty. */
  async function take(next) {
    value = next;
    below.hidden = !next.strip;
    if (!next.strip) [url, rows] = ['', []];
    if (!next.strip || next.strip.rows.url === url) return;
    const wanted = next.strip.rows.url;
    url = wanted;
    if (below.checkVisibility()) reserveHeight(lengthsOf(next.strip.blocks.map(({heads}) => heads)));
    try {
      const bytes = await fetchBytes(wanted);
      // the canvas is painted first
      if (rows.length) await painted();
      if (wanted !== url) return;
      rows = decodeRows(bytes, next).map((row) => ({...row, reading: readQuery(row.payload, row.payload.codes[0])}));
    } catch (error) {
      console.warn('attention canvas:', error);
      [url, rows] = ['', []];
      return;
    }
    build();
    paint();
  }

  function build() {
    const heads = rows.map(({facts}) => facts.heads);
    const now = JSON.stringify([heads, value.words.block_short]);
    if (drawn === now) return;
    drawn = now;
    tiles = rows.map(({facts}) =>
      Array.from({length: facts.heads}, (_, head) => {
        const canvas = make('canvas');
        const place = {block: facts.block, head};
        const node = make('button.small', {tabIndex: -1, ariaPressed: 'false', onclick: () => choose(place)}, canvas);
        return {node, canvas};
      }),
    );
    groups.replaceChildren(
      ...rows.map(({facts}, i) =>
        make(
          'div.group',
          make('span.number', say(value.words, 'block_short', {block: facts.block})),
          make('div.tiles', ...tiles[i].map(({node}) => node)),
        ),
      ),
    );
    [chosen, pressed, stop] = [null, null, null];
    lay();
  }

  /** Reserves the height of the strip before it is drawn, so that the canvas is laid out once. */
  function reserveHeight({high}) {
    below.parentElement.parentElement.style.setProperty('--vx-foot', `${high}px`);
  }

  function lay() {
    if (!rows.length || !groups.clientWidth) return;
    const across = matchMedia('(max-width: 760px)').matches ? Infinity : groups.clientWidth;
    const heads = rows.map(({facts}) => facts.heads);
    const lengths = lengthsOf(heads);
    const laid = layTiles(heads, across, lengths.high - NUMBER - lengths.frame, lengths);
    cols = laid.cols;
    for (const [name, length] of Object.entries({...lengths, tile: laid.tile}))
      groups.style.setProperty(`--${name}`, `${length}px`);
    reserveHeight(lengths);
    cols.forEach((count, i) =>
      /** @type {HTMLElement} */ (groups.children[i]).style.setProperty('--cols', String(count)),
    );
    isLong = null;
  }

  function paint() {
    if (!rows.length || !latest) return;
    const {state, colormap} = latest;
    setText(below.querySelector('.of-query'), say(value.words, 'strip', {query: queryOfStrip()}));
    rows.forEach(({facts, payload, reading}, i) => {
      const grid = facts.keys ?? facts;
      const top = Math.max(...reading.heads.map((head) => head.peak));
      reading.heads.forEach((head, h) => {
        const {node, canvas} = tiles[i][h];
        const limit = state.scale === 'map' ? head.peak : top;
        paintThumb(
          canvas,
          head.map,
          massMask(head.map, state.keep_mass),
          limit,
          payload.signed ? SIGNED : colormap,
          grid.rows,
          grid.cols,
          null,
        );
        const name = say(value.words, 'tile', {block: facts.block, head: h});
        node.setAttribute('aria-label', listed([name, say(value.words, 'peak', {value: percent(head.max)})]));
      });
    });
    mark();
  }

  const queryOfStrip = () => tokenText({...value, ...rows[value.block].facts}, rows[value.block].payload.codes[0]);

  /** Marks the current block and head. */
  function mark() {
    const {block, head} = latest;
    const group = groups.children[block] ?? null;
    const node = tiles[block]?.[head]?.node ?? null;
    chosen?.classList.remove('chosen');
    group?.classList.add('chosen');
    if (pressed !== node) {
      pressed?.setAttribute('aria-pressed', 'false');
      node?.setAttribute('aria-pressed', 'true');
    }
    [chosen, pressed] = [group, node];
    if (!isLeading) painted().then(lead);
    isLeading = true;
  }

  /** Updates the tab order and scrolls the strip; after the canvas is painted, since both need a layout. */
  function lead() {
    isLeading = false;
    const {block, head} = latest;
    const next = tiles[block]?.[typeof head === 'number' ? head : 0]?.node ?? null;
    if (stop !== next) {
      if (stop) stop.tabIndex = -1;
      if (next) next.tabIndex = 0;
      stop = next;
    }
    isLong ??= groups.scrollWidth > groups.clientWidth;
    if (chosen && isLong) groups.scrollTo({left: chosen.offsetLeft - groups.clientWidth / 2});
  }

  groups.addEventListener('pointerover', ({target}) => {
    clearTimeout(resting);
    const number = [...groups.children].findIndex((group) => group.contains(target));
    if (number >= 0) resting = setTimeout(approach, REST, rows[number].facts.block);
  });
  groups.addEventListener('pointerleave', () => clearTimeout(resting));
  groups.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = tiles
      .flatMap((row, block) => row.map(({node}, head) => ({node, block, head})))
      .find(({node}) => node === document.activeElement);
    if (!at) return;
    event.preventDefault();
    const next = tileBeside(
      at,
      step[0],
      step[1],
      tiles.map((row) => row.length),
      cols,
    );
    tiles[next.block][next.head].node.focus({preventScroll: true});
    choose(next);
  });
  new ResizeObserver(lay).observe(groups);

  return {
    take,
    /** @param {number} block @returns the rows of a block, to show before its attention has arrived */
    rowOf: (block) => (rows[block] ? {payload: rows[block].payload, facts: value.strip.blocks[block]} : null),
    /** Marks the current head and paints the maps with the current display. */
    show(state, block, colormap) {
      const painted = JSON.stringify([state.scale, state.keep_mass, colormap]);
      const isOther = painted !== latest?.painted;
      latest = {state, block, head: state.head, colormap, painted};
      if (isOther) paint();
      else if (rows.length) mark();
    },
  };
}

const LARGEST = 46;
const SMALLEST = 8; // CSS pixels
const MANY = 100;

/**
 * Lengths in CSS pixels: between two tiles, around the tiles of a block, between blocks; and the height of everything
 * with the numbers of the blocks.
 *
 * @typedef {{gap: number, frame: number, between: number, high: number}} Lengths
 */

/** @type {(heads: number[]) => Lengths} depends on the number of tiles */
export function lengthsOf(heads) {
  const total = heads.reduce((sum, count) => sum + count, 0);
  return total > MANY ? {gap: 1, frame: 6, between: 3, high: 116} : {gap: 2, frame: 10, between: 6, high: 96};
}

/**
 * Largest tiles with which all blocks fit side by side; the heads of a block wrap into several lines if needed.
 *
 * @param {number[]} heads of each block
 * @param {number} width
 * @param {number} height
 * @param {Lengths} lengths
 * @returns {{tile: number, cols: number[]}} the side of a tile, and the columns of tiles in each block
 */
export function layTiles(heads, width, height, {gap, frame, between}) {
  for (let tile = LARGEST; ; tile--) {
    const most = Math.max(1, Math.floor((height + gap) / (tile + gap)));
    const cols = heads.map((count) => Math.ceil(count / Math.min(count, most)));
    const wide = cols.reduce((sum, count) => sum + count * (tile + gap) - gap + frame, between * (heads.length - 1));
    if (wide <= width || tile === SMALLEST) return {tile, cols};
  }
}

/**
 * Head beside, above or below another; the same head at an edge.
 *
 * @param {{block: number, head: number}} from
 * @param {number} down
 * @param {number} right
 * @param {number[]} heads of each block
 * @param {number[]} cols side by side in each block
 */
export function tileBeside({block, head}, down, right, heads, cols) {
  const row = Math.floor(head / cols[block]) + down;
  const col = (head % cols[block]) + right;
  const next = block + (col < 0 ? -1 : col >= cols[block] ? 1 : 0);
  if (next < 0 || next >= heads.length) return {block, head};
  const at = next < block ? cols[next] - 1 : next > block ? 0 : col;
  const rows = Math.ceil(heads[next] / cols[next]);
  const inside = next === block ? row : Math.min(row, rows - 1);
  if (inside < 0 || inside >= rows) return {block, head};
  return {block: next, head: Math.min(heads[next] - 1, inside * cols[next] + at)};
}
