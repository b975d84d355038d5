// Strip of all heads of all blocks for one query: small maps, each a button that shows its head on the canvas.

import {make, setText} from '../kit/dom.js';
import {listed} from '../kit/formats.js';
import {ARROWS} from '../kit/grid.js';
import {SIGNED} from './colours.js';
import {massMask} from './maps.js';
import {decodeRows, readQuery} from './payload.js';
import {paintThumb} from './picture.js';
import {percent, say, tokenText} from './texts.js';
import {layTiles, lengthsOf, tileBeside} from './tiles.js';

const NUMBER = 18; // height in CSS pixels of the line with a block's number

/**
 * @param {HTMLElement} below element that holds the strip
 * @param {(url: string) => Promise<ArrayBuffer>} fetchBytes
 * @param {(place: {block: number, head: number}) => void} choose
 */
export function newStrip(below, fetchBytes, choose) {
  const groups = below.querySelector('.groups');
  let url = '';
  let rows = [];
  let tiles = [];
  let cols = [];
  let drawn = '';
  let value = null;
  let latest = null;
  let frame = 0;
  let isLong = /** @type {boolean | null} */ (null);
  let chosen = null;
  let pressed = null;
  let stop = null; // the current group and tile; the tile in the tab order

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
      if (rows.length) await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
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
        const node = make(
          'button',
          {type: 'button', className: 'small', tabIndex: -1, ariaPressed: 'false', onclick: () => choose(place)},
          canvas,
        );
        return {node, canvas};
      }),
    );
    groups.replaceChildren(
      ...rows.map(({facts}, i) =>
        make(
          'div',
          {className: 'group'},
          make('span', {className: 'number', textContent: say(value.words, 'block_short', {block: facts.block})}),
          make('div', {className: 'tiles'}, ...tiles[i].map(({node}) => node)),
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
    if (!frame) frame = requestAnimationFrame(lead);
  }

  /** Updates the tab order and scrolls the strip; in the next frame, since both need a layout. */
  function lead() {
    frame = 0;
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
