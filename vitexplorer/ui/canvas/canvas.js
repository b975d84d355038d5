// The attention canvas: events that change the selection, and painting.
//
// Public interface on the root element `.vx-canvas`:
//   the bubbling event `vx-select`; its detail is the result of `root.vx.get()`
//   the bubbling event `vx-room`: a person goes on to {room}
//   root.vx.get()         {block, head, query, pinned, mode, colormap, opacity, scale, keep_mass, smooth, sharpen,
//                         settings}; `settings` are the controls that Python answers (name -> text)
//   root.vx.set(changes)  any of block, head, query, mode, colormap, opacity, scale, keep_mass, smooth, sharpen
//   root.vx.read()        the numbers on the screen, over the grid of the keys: {query, head, rows, cols, map, prefix,
//                         patches, padding, error, mask, inside, top, fine}; `fine` is the sharpened map or null
//   root.vx.save(format)  png2, png4, svg or csv
// Canvases with the same `link` share the hovered and the pinned query and the head, see `sharing.js`.

import {form} from '../controls/form.js';
import {setText} from '../kit/dom.js';
import {newAside} from '../kit/frame.js';
import {newBlending, painted} from '../kit/motion.js';
import {otherViews} from '../kit/previews.js';
import {offersPicture, pngFile} from '../kit/saving.js';
import {newWelcome} from '../shell/welcome/welcome.js';
import {newBusyBar, newSurroundings} from './around.js';
import {say} from './captions.js';
import {newControls} from './controls.js';
import {fetchImage, newFetcher} from './fetching.js';
import {cellAt, gridOf} from './grids.js';
import {decodePayload, decodeRows} from './payload.js';
import {newPainter} from './picture.js';
import {listenToKeys, listenToPointer, newPlayer} from './pointing.js';
import {isSilent, queryText} from './queries.js';
import {figureOf, numbersOf, saveCanvas} from './saving.js';
import {colormapOf, newView, readNumbers} from './scene.js';
import {
  carryOver,
  firstBase,
  firstState,
  follows,
  neighbour,
  nextHead,
  queryNow,
  resting,
  selectionOf,
  settle,
} from './selection.js';
import {hearDisplay, hearLinked, isDisplay, takeDisplay, tellDisplay, tellLinked} from './sharing.js';
import {newSharpener} from './sharpening.js';
import {newStrip} from './strip.js';

const DEBOUNCE = 120; // ms

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({root, part: find, props, trigger, bytes}) {
  const view = find('.view');
  const paint = newPainter();
  const {fetchBytes, here} = newFetcher(bytes);
  const showBusy = newBusyBar(root);
  const aside = newAside(root, save, () => (block && now ? [numbersOf(block, state, now)] : null));
  const controls = newControls(root, aside, choose);
  const settings = form(find('.settings .fields'), {settled: adjust});
  find('.misleads').before(otherViews(root));
  const strip = newStrip(find('.below'), fetchBytes, {
    choose: ({block: to, head}) => choose({head, block: to}),
    approach: fetchAhead,
  });

  const blending = newBlending(schedule);
  const sharpener = newSharpener(view, blending, schedule);
  const welcome = newWelcome(find('.picture'), showInPassing);
  const state = firstState();
  const showAround = newSurroundings(root, state, aside.write);
  let block = /** @type {import('./selection.js').Block | null} */ (null);
  let viewOf = null;
  let last = block; // the latest block, also while the placeholder is shown
  let early = null; // the latest value whose rows were shown first
  let now = /** @type {import('./scene.js').View | null} */ (null); // the view on the screen
  let sequence = 0;
  let loading = false;
  let frame = 0;
  let moved = null;
  let told = '';
  let asked = 0; // number of the latest event
  let answered = 0; // number of the latest event whose answer is shown
  let filled = 0; // number of the latest value that resets the choices
  let requested = /** @type {number | null} */ (null); // the requested block
  let stride = 0; // blocks between the last two

  // ---- changes of the selection

  function choose(changes) {
    if (!block) return;
    sharpener.wake();
    const goes = canGo(changes.block);
    if (goes) preview(changes.block);
    settle(state, block.value, changes);
    if (isDisplay(changes)) tellDisplay(root, state);
    if (changes.query != null || changes.head != null) tellLinked(root, block, state, 'pin');
    refresh();
    if (goes) wait('choose_block', {to: changes.block});
    notify(!goes);
  }

  const canGo = (to) =>
    Number.isInteger(to) &&
    block.value.walks &&
    to >= 0 &&
    to < block.value.depth &&
    to !== (requested ?? block.value.block);

  /**
   * Requests another block from Python; answers to earlier requests are ignored. Until the answer comes, the block is
   * shown if its attention is cached; otherwise its rows from the strip are shown while it is fetched.
   */
  async function preview(to) {
    stride = to - (requested ?? block.value.block);
    requested = to;
    const row = strip.rowOf(to);
    if (!row) return;
    const value = {...block.value, ...row.facts, asked: asked + 1};
    const {image} = block;
    const url = row.facts.attention?.url;
    const whole = url ? here(url) : null;
    const coming = url && !whole ? fetchBytes(url).catch(() => null) : null;
    if (whole) return put(value, decodePayload(whole, value), image);
    put({...value, attention: null}, row.payload, image, true);
    const bytes = await coming; // without an address, Python's answer names a new one
    if (bytes && block?.isPreview && block.value.block === to) put(value, decodePayload(bytes, value), image);
  }

  const goBy = (by) => {
    if (block) choose({block: (requested ?? block.value.block) + by});
  };

  function adjust() {
    sharpener.wake();
    if (block) wait('adjust');
  }

  function wait(kind, more = {}) {
    loading = true;
    tellBusy();
    ask(kind, more);
  }

  /** Paints the choice first: gradio takes longer than a frame to send an event. */
  function ask(kind, more = {}) {
    const {block: number, head, query, pinned, settings: values} = selection();
    asked += 1;
    const question = {block: number, head, query, pinned, settings: values, ...more, asked};
    painted().then(() => trigger(kind, question));
  }

  const selection = () => ({...selectionOf(state, block), settings: settings.settings()});

  /** Pins the clicked patch, or releases the pinned one. Where patches are no queries, nothing happens. */
  function pick(cell) {
    if (isSilent(block.value, cell)) return;
    pin({pinned: state.pinned === cell ? null : cell});
  }

  function pin(changes) {
    sharpener.wake();
    Object.assign(state, changes);
    tellLinked(root, block, state, 'pin');
    refresh();
    notify(true);
  }

  function hover(place, since = null) {
    sharpener.wake();
    state.hover = place;
    moved ??= since;
    tellLinked(root, block, state, 'hover');
    schedule();
  }

  function move(rows, cols) {
    const next = neighbour(state, block, rows, cols);
    if ('hover' in next) return hover(next.hover);
    state.hover = null;
    choose(next);
  }

  const release = (base) => pin({hover: null, pinned: null, base});
  const step = (by) => choose({head: nextHead(state, block.value, by)});

  function pickShown() {
    const code = queryNow(state, block);
    if (code >= 0) pick(code);
  }

  const ready = () => block !== null;
  listenToPointer(view, {
    ready,
    hover,
    pick,
    hovered: () => state.hover,
    queries: () => block.grids.queries,
    aimed: () => (follows(state, block) ? block.grids.queries : block.grids.keys),
    followed: () => (follows(state, block) ? cellAt(block.grids.queries, state.hover) : null),
  });
  listenToKeys(view, ready, {
    ArrowLeft: () => move(0, -1),
    ArrowRight: () => move(0, 1),
    ArrowUp: () => move(-1, 0),
    ArrowDown: () => move(1, 0),
    Home: () => release(firstBase(block.value)),
    Escape: () => release(state.base),
    Enter: pickShown,
    ' ': pickShown,
    '[': () => step(-1),
    PageUp: () => step(-1),
    ']': () => step(1),
    PageDown: () => step(1),
    ',': () => goBy(-1),
    '.': () => goBy(1),
    m: () => choose({head: 'mean'}),
    x: () => choose({head: 'max'}),
    n: () => choose({head: 'min'}),
  });
  for (const [button, by] of /** @type {const} */ ([
    ['.before', -1],
    ['.after', 1],
  ])) {
    find(button).addEventListener('click', () => goBy(by));
    find(button).addEventListener('pointerenter', () => block && fetchAhead(block.value.block + by));
  }
  newPlayer(find('.play'), {at: () => (block && !loading ? block.value : null), go: (to) => choose({block: to})});
  root.addEventListener('keydown', sharpener.wake);
  hearDisplay(root, state, () => {
    sharpener.wake();
    refresh();
  });
  hearLinked(
    root,
    () => block,
    state,
    (pinned) => {
      sharpener.wake();
      if (pinned) notify(false);
      refresh();
    },
  );

  /** Notifies the page, and Python after a new block, head or query; once for a burst of changes. */
  const notify = (() => {
    let timer = 0;
    let mine = false;
    return (byPerson) => {
      mine ||= byPerson;
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!block) return;
        const detail = {...selection(), block: requested ?? block.value.block};
        root.dispatchEvent(new CustomEvent('vx-select', {bubbles: true, detail}));
        if (requested !== null) return; // the answer about that block leads here again
        const {block: number, head, query, pinned} = detail;
        const chosen = JSON.stringify([number, head, query, pinned]);
        if (mine && chosen !== told) ask('patch_select');
        told = chosen;
        mine = false;
      }, DEBOUNCE);
    };
  })();

  // ---- painting

  function schedule() {
    if (!frame) frame = requestAnimationFrame(repaint);
  }

  function refresh() {
    if (block) {
      sharpener.follow(block, state);
      controls.show(block.value, state, resting(state, block), colormapOf(state, block));
      strip.show(state, block.value.block, state.colormap);
    }
    schedule();
  }

  function repaint() {
    frame = 0;
    const box = view.getBoundingClientRect();
    if (!block || !box.width) return;
    now = viewOf(state, sharpener.fine());
    const {value, payload, grids} = block;
    const {code, key, shown, heads, scene, mask} = now;
    paint(view, box, scene);
    controls.showHeads(value, heads, state, mask, scene.top, scene.window, code, grids, scene.colormap);
    blending.over();
    const onPrefix = shown.prefix.filter((_, i) => payload.prefixKeys[i]);
    controls.showMasses([shown.patches, ...onPrefix, shown.padding].slice(0, controls.numBars()));
    controls.showSharpened(value, sharpener.told());
    showAround(block, now);
    tellBusy();
    sharpener.rest(grids.keys);
    Object.assign(root.dataset, {
      query: queryText(value, code),
      head: state.head,
      key: key === null ? '' : queryText(value, key, grids.keys.cols),
    });
    if (moved === null) return;
    performance.clearMeasures('vx-hover');
    performance.measure('vx-hover', {start: moved, end: performance.now()});
    moved = null;
  }

  // ---- values from Python

  /** Shows that a value or a requested row is loading. */
  function tellBusy() {
    root.ariaBusy = String(loading);
    const row = block?.payload.partial && queryNow(state, block) !== resting(state, block);
    showBusy(loading || Boolean(row), () => say(props.value.words, 'loading', {block: requested ?? props.value.block}));
  }

  /**
   * Returns true where the answer to a later event is shown, or another block was requested since the event, or since
   * the value's rows are shown.
   */
  function isOvertaken(value) {
    const {asked: number, block: to} = value;
    const isLeft = requested !== null && to !== requested;
    return number > 0 ? number < answered || isLeft : early === value && isLeft;
  }

  function sync() {
    const next = props.value;
    if (next?.filled) {
      if (next.filled === filled) return; // sent again at the end of its event
      filled = next.filled;
    }
    load(next);
  }

  async function load(next) {
    if (next && isOvertaken(next)) return;
    if (next?.asked) answered = Math.min(next.asked, asked); // a canvas that is mounted again counts anew
    if (next && isShown(next)) return update(next);
    const mine = ++sequence;
    root.classList.remove('broken');
    loading = Boolean(next?.attention);
    tellBusy();
    if (!loading) {
      root.dataset.state = 'empty';
      block = null;
      tellBusy();
      if (next) controls.prepare(next, null);
      return;
    }
    try {
      const url = next.image?.url;
      const picture = !url ? null : url === last?.value.image?.url ? last.image : fetchImage(url);
      if (!here(next.attention.url)) await showRows(next, picture, mine).catch(() => {}); // the block tells of errors
      const [bytes, image] = await Promise.all([fetchBytes(next.attention.url), picture]);
      if (mine !== sequence || isOvertaken(next)) return;
      if (isShown(next)) return update(next);
      accept(next, decodePayload(bytes, next), image);
    } catch (error) {
      if (mine !== sequence || isOvertaken(next)) return;
      console.warn('attention canvas:', error);
      if (!block) controls.prepare(next, null);
      setText(find('.failed .text'), say(next.words, 'failed', {block: next.block}));
      root.classList.add('broken');
      loading = false;
      tellBusy();
    }
  }

  /** Shows the rows of the query at rest, which the strip needs anyway; the whole block of a value is fetched next. */
  async function showRows(next, picture, mine) {
    if (!next.strip?.blocks[next.block].attention || state.pinned !== null) return;
    const [bytes, image] = await Promise.all([fetchBytes(next.strip.rows.url), picture]);
    if (mine !== sequence || here(next.attention.url) || isOvertaken(next)) return;
    strip.take(next);
    showSettings(next);
    put({...next, attention: null}, decodeRows(bytes, next)[next.block].payload, image, true);
    early = next;
  }

  find('.retry').addEventListener('click', () => {
    if (block?.value.walks)
      wait('choose_block', {to: props.value.block}); // Python returns a new address of its file
    else load(props.value);
  });

  function put(value, payload, image, isPreview = false) {
    const grids = {queries: gridOf(value, image, 'queries'), keys: gridOf(value, image, 'keys')};
    if (block && isOther(block, value)) blending.from([view, ...controls.headMaps()]);
    block = {value, payload, image, grids, isPreview};
    viewOf = newView(block);
    const renamed = carryOver(state, last, block, early !== value && (!last || !value.asked));
    takeDisplay(state);
    last = block;
    root.style.setProperty('--aspect', image ? image.naturalWidth / image.naturalHeight : value.cols / value.rows);
    Object.assign(root.dataset, {
      state: 'ready',
      part: isPreview ? 'rows' : 'whole',
      block: value.block,
      shown: (Number(root.dataset.shown) || 0) + 1,
    });
    controls.prepare(value, payload);
    refresh();
    return renamed;
  }

  /** Returns true where a value replaces another map on the same grid, not the rows of the same block. */
  const isOther = ({value: old, isPreview = false}, value) =>
    old.rows === value.rows && old.cols === value.cols && !(isPreview && old.block === value.block);

  /** Returns true where only the texts and controls around the picture change. */
  function isShown({attention, image, block: number}) {
    return (
      attention &&
      block?.value.attention?.url === attention.url &&
      block.value.block === number &&
      block.value.image?.url === image?.url
    );
  }

  function update(value) {
    sequence += 1;
    block.value = value;
    if (!value.asked) settle(state, value, value);
    takeDisplay(state);
    arrive();
    notify(false);
  }

  /** Shows an answer of Python; for a person who steps through the blocks, the next one is fetched. */
  function arrive() {
    const stepped = requested !== null && Math.abs(stride) === 1;
    requested = null;
    loading = false;
    root.classList.remove('broken');
    controls.prepare(block.value, block.payload);
    showSettings(block.value);
    strip.take(block.value).then(welcomeFirst);
    tellBusy();
    refresh();
    if (!stepped) return;
    const next = block.value.block + stride;
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => fetchAhead(next));
    else setTimeout(fetchAhead, 200, next);
  }

  function showSettings({controls: given}) {
    find('.settings').hidden = !given.length;
    settings.show(given);
  }

  /** Welcomes a first visitor once the rows of all blocks are there. */
  function welcomeFirst() {
    if (!block?.value.welcomes) return;
    const {words, block: number} = block.value;
    const text = (key) => say(words, key);
    welcome({promise: text('welcome'), learn: text('welcome_learn'), image: text('welcome_image')}, number);
  }

  /** Shows the rows of a block, or again the block that Python sent last; false where something was chosen since. */
  function showInPassing(number) {
    if (!block || requested !== null || props.value?.asked) return false;
    const row = strip.rowOf(number);
    if (number === props.value.block) load(props.value);
    else if (row) put({...props.value, ...row.facts, attention: null}, row.payload, block.image, true);
    return true;
  }

  /** Fetches a block that a person is likely to choose. @param {number} number */
  function fetchAhead(number) {
    const facts = block?.value.strip?.blocks[number];
    if (facts?.ahead) fetchBytes(facts.attention.url).catch(() => {});
  }

  /** Replaces the block on the screen; the visitor's choices stay where they are valid. */
  function accept(value, payload, image) {
    if (last && !block.isPreview) sharpener.wake();
    const renamed = put(value, payload, image);
    arrive();
    notify(renamed);
  }

  // ---- public interface

  async function save(format) {
    while (loading && block?.isPreview) await painted(); // the whole block is on its way
    if (block && now && !block.isPreview) saveCanvas(format, block, state, now, find);
  }

  offersPicture(root, () => (block && now ? pngFile(figureOf(block, state, now, find), 2) : null));
  root.vx = {
    get: () => block && selection(),
    set: choose,
    read: () => now && readNumbers(root.dataset.query, state.head, now),
    save,
  };
  new ResizeObserver(schedule).observe(view);
  return sync;
}
