// The canvas: what is selected, what moves it, and what is painted for it.
//
// Outside this script a page uses, on the root element `.vx-canvas`:
//   the event `vx-select`, which bubbles; its detail is what `root.vx.get()` gives
//   root.vx.get()         {block, head, query, pinned, mode, colormap, opacity, scale, keep_mass, smooth}
//   root.vx.set(changes)  any of head, query, mode, colormap, opacity, scale, keep_mass, smooth
//   root.vx.read()        the numbers on the screen, over the grid of the keys: {query, head, rows, cols, map, prefix,
//                         patches, padding, error, mask, inside, top}
//   root.vx.save(format)  png2, png4, svg or csv
// Canvases with the same `link` share the hovered and the pinned query through `vx-link` events on the document.

const REST = 400, DEBOUNCE = 120, BUSY_AFTER = 150;

const root = element.querySelector('.vx-canvas'), find = (selector) => root.querySelector(selector);
const view = find('.view'), pen = view.getContext('2d'), ramp = find('.ramp'), mark = find('.mark');
const paint = newPainter(), fetchBytes = newFetcher(), controls = newControls(root, choose);

const state = {
  head: 'mean', fusion: 'mean', base: MEAN, pinned: null, hover: null,
  mode: 'overlay', colormap: 'inferno', opacity: 0.8, scale: 'map', keep_mass: 1, smooth: false,
};
let value = null, payload = null, image = null, imageUrl = null, scratch = null, fused = null, scene = null, shown = null;
let grids = null;  // of the queries, on which patches are picked, and of the keys, on which maps are drawn
let sequence = 0, loading = false, frame = 0, moved = null, told = '', announced = '';

// ---- what is selected

// `state.hover` is a place {y, x} in shares of the picture; pinned and base are queries.

// What a person wants to look from: the pinned patch, or the token the canvas returns to.
const wanted = () => state.pinned ?? state.base;

// The same where that token looks in this block, otherwise what a block begins with.
function resting() {
  const first = [wanted(), state.base, firstBase(), MEAN, ...value.prefix.map((_, i) => -1 - i)];
  return first.find((code) => !isSilent(value, code));
}

// Whether the query moves with the mouse; otherwise keys are read.
function follows() {
  return state.pinned === null && !payload.partial && !isSilent(value, MEAN);
}

// The query whose map is shown: the hovered patch or the resting one; another while that is on its way.
function queryNow() {
  const hovered = follows() ? cellAt(grids.queries, state.hover) : null;
  if (hovered !== null) return hovered;
  return hasQuery(payload, resting()) ? resting() : payload.index.keys().next().value;
}

// The key under the mouse, where hovering does not move the query.
function keyNow() {
  return follows() ? null : cellAt(grids.keys, state.hover);
}

// Takes over changes that make sense here, from a control, from Python or from `root.vx.set`.
function settle(changes) {
  const share = (number, least) => (Number.isFinite(number) ? Math.max(least, Math.min(1, number)) : null);
  const head = changes.head == null ? null : headFrom(value, changes.head);
  const query = changes.query == null ? null : queryCode(value, changes.query);
  const found = {
    head,
    mode: MODES.includes(changes.mode) ? changes.mode : null,
    colormap: Object.hasOwn(COLORMAPS, changes.colormap ?? '') ? changes.colormap : null,
    scale: SCALES.includes(changes.scale) ? changes.scale : null,
    opacity: share(changes.opacity, 0),
    keep_mass: share(changes.keep_mass, 0.01),
    smooth: typeof changes.smooth === 'boolean' ? changes.smooth : null,
  };
  for (const [name, choice] of Object.entries(found)) if (choice !== null) state[name] = choice;
  if (typeof state.head === 'string') state.fusion = state.head;
  if (query !== null && query >= 0) state.pinned = query;
  if (query !== null && query < 0) Object.assign(state, {base: query, pinned: null});
}

function choose(changes) {
  if (!value || !payload) return;
  settle(changes);
  if (changes.query != null) tellLinked('pin');
  refresh();
  notify(true);
}

// A click on a patch pins it; on the pinned one, releases it. Where patches do not look, the hint has said so.
function pick(cell) {
  if (isSilent(value, cell)) return;
  state.pinned = state.pinned === cell ? null : cell;
  tellLinked('pin');
  refresh();
  notify(true);
}

function hover(place) {
  state.hover = place;
  tellLinked('hover');
  schedule();
}

function selection() {
  return {
    block: value.block, head: String(state.head), query: queryText(value, wanted()), pinned: state.pinned !== null,
    mode: state.mode, colormap: state.colormap, opacity: state.opacity, scale: state.scale,
    keep_mass: state.keep_mass, smooth: state.smooth,
  };
}

// Tells the page and, where a person chose another block, head or query, Python; once for a burst of changes.
const notify = (() => {
  let timer = 0, mine = false;
  return (byPerson) => {
    mine ||= byPerson;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!value || !payload) return;
      const {block, head, query, pinned} = selection(), now = JSON.stringify([block, head, query, pinned]);
      root.dispatchEvent(new CustomEvent('vx-select', {bubbles: true, detail: selection()}));
      if (mine && now !== told) trigger('patch_select', {block, head, query, pinned});
      told = now;
      mine = false;
    }, DEBOUNCE);
  };
})();

// ---- linked canvases

function tellLinked(kind) {
  if (!value.link) return;
  const pinned = state.pinned === null ? null : placeOf(grids.queries, state.pinned);
  document.dispatchEvent(new CustomEvent('vx-link', {detail: {
    link: value.link, sender: root, kind, at: kind === 'hover' ? state.hover : pinned, token: queryText(value, state.base),
  }}));
}

function hearLinked({detail}) {
  if (!root.isConnected) return document.removeEventListener('vx-link', hearLinked);
  if (!payload || !value.link || detail.link !== value.link || detail.sender === root) return;
  if (detail.kind === 'hover') state.hover = detail.at;
  else {
    Object.assign(state, {pinned: cellAt(grids.queries, detail.at), base: queryCode(value, detail.token) ?? state.base});
    notify(false);
  }
  refresh();
}

// ---- painting

// Weights that may be negative have colours of their own.
const colormapNow = () => (payload.signed ? SIGNED : state.colormap);

function schedule() {
  frame ||= requestAnimationFrame(repaint);
}

function refresh() {
  if (value && payload) controls.show(value, state, resting(), colormapNow());
  schedule();
}

function repaint() {
  frame = 0;
  const box = view.getBoundingClientRect(), ratio = devicePixelRatio || 1;
  if (!payload || !box.width) return;
  const code = queryNow(), key = keyNow(), reading = readQuery(payload, code, scratch);
  fuseHeads(reading, state.fusion, fused);
  shown = typeof state.head === 'number' ? reading.heads[state.head] : fused;
  const top = {
    map: () => shown.peak,
    heads: () => Math.max(...reading.heads.map((head) => head.peak)),
    block: () => blockMaximum(payload),
  }[state.scale]();
  const mask = (map) => massMask(map, state.keep_mass);
  scene = {
    image, grid: grids.keys, map: shown.map, mask: mask(shown.map), window: reading.window, top,
    mode: state.mode, colormap: colormapNow(), opacity: state.opacity, smooth: state.smooth,
    frames: [
      ...(key === null ? [] : [{grid: grids.keys, cell: key, role: 'key'}]),
      ...(code >= 0 ? [{grid: grids.queries, cell: code, role: 'query'}] : []),
    ],
  };
  const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
  if (view.width !== width || view.height !== height) Object.assign(view, {width, height});
  paint(pen, width, height, scene, ratio);
  controls.showHeads(value, [fused, ...reading.heads], state, mask, top, reading.window, code, grids, colormapNow());
  const onPrefix = shown.prefix.filter((_, i) => payload.prefixKeys[i]);
  controls.showMasses([shown.patches, ...onPrefix, shown.padding].slice(0, controls.numBars()));
  showScale(top);
  showWords(code, key);
  showBusy();
  Object.assign(root.dataset, {query: queryText(value, code), head: state.head, key: key === null ? '' : queryText(value, key, grids.keys.cols)});
  if (moved !== null) {
    performance.clearMeasures('vx-hover');
    performance.measure('vx-hover', {start: moved, end: performance.now()});
    moved = null;
  }
}

const ticksOf = (top) => (payload.signed ? [-top, 0, top] : [0, top / 2, top]).map((share) => percent(share));

function showScale(top) {
  const [low, , high] = ticksOf(top), name = `${state.mode} ${colormapNow()}`;
  setText(find('.low'), low);
  setText(find('.high'), high);
  if (ramp.dataset.name === name) return;
  ramp.dataset.name = name;
  putCells(ramp, 256, 1, (words) => {
    barOf(state.mode, colormapNow()).forEach(([red, green, blue], i) => { words[i] = 0xff000000 | blue << 16 | green << 8 | red; });
  });
}

function showWords(code, key) {
  const {words} = value;
  setText(find('.direction'), say(words, 'direction', {query: tokenText(value, code)}));
  setText(find('.source'), [headText(value, state.head), blockText(), value.model, value.weights].filter(Boolean).join(' · '));
  root.classList.toggle('pinned', state.pinned !== null && state.pinned === code);
  const strongest = shown.map.findIndex((share) => Math.abs(share) === shown.peak);
  const read = key ?? strongest, outside = scene.window && !scene.window.inside[read];
  setText(find('.what'), say(words, key === null ? 'strongest' : 'key'));
  setText(find('.where'), tokenText(value, read, grids.keys.cols));
  setText(find('.value'), outside ? say(words, 'not_attended') : percent(shown.map[read]));
  mark.style.left = `${100 * heightOf(shown.map[read], scene.top, scene.colormap)}%`;
  setText(find('.hint'), hint());
  setText(find('.notes'), [say(words, payload.signed ? `signed_${state.scale}_long` : `scale_${state.scale}_long`), ...notes()].join(' · '));
  setText(find('.notes.site'), value.notes.join(' '));
  announceSoon(code, key);
}

// What the mouse does here; first of all, where a token that was asked for does not look, that it does not.
function hint() {
  const {words} = value, query = tokenText(value, resting());
  if (isSilent(value, MEAN)) return say(words, 'hint_class', {query});
  const kind = payload.partial ? 'hint_partial' : state.pinned !== null ? 'hint_pinned' : 'hint';
  const usual = say(words, matchMedia('(pointer: coarse)').matches ? `${kind}_touch` : kind);
  if (!isSilent(value, wanted())) return usual;
  return `${say(words, 'hint_silent', {token: tokenText(value, wanted()), query})} ${usual}`;
}

function blockText() {
  return say(value.words, 'block', {block: value.block, last: value.depth - 1});
}

function notes() {
  const {words} = value;
  return [
    scene.window && say(words, 'note_window'),
    state.keep_mass < 1 && say(words, 'note_keep', {share: percent(state.keep_mass, 2)}),
    state.smooth && say(words, 'note_smooth'),
    say(words, 'note_precision', {error: percent(shown.error)}),
  ].filter(Boolean);
}

// What a screen reader says, once the query rests and only to somebody whose focus is here.
const announceSoon = (() => {
  let timer = 0;
  return (code, key) => {
    const text = say(value.words, 'view_label', {
      direction: say(value.words, 'direction', {query: tokenText(value, code)}), head: headText(value, state.head),
    });
    if (`${text} ${key}` === announced) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      announced = `${text} ${key}`;
      view.setAttribute('aria-label', text);
      const read = ['.what', '.where', '.value'].map((selector) => find(selector).textContent).join(' ');
      if (root.contains(document.activeElement)) find('.live').textContent = `${text} ${read}`;
    }, REST);
  };
})();

// ---- mouse, finger, keys

function placeUnder(event) {
  const box = view.getBoundingClientRect();
  const y = (event.clientY - box.top) / box.height, x = (event.clientX - box.left) / box.width;
  return y >= 0 && x >= 0 && y < 1 && x < 1 ? {y, x} : null;
}

let touch = null;
view.addEventListener('pointerdown', (event) => {
  if (!payload || event.pointerType === 'mouse') return;
  touch = {x: event.clientX, y: event.clientY, dragged: false};
});
view.addEventListener('pointermove', (event) => {
  if (!payload) return;
  if (event.pointerType !== 'mouse') {
    if (!touch) return;
    touch.dragged ||= Math.hypot(event.clientX - touch.x, event.clientY - touch.y) > 8;
    if (!touch.dragged) return;
  }
  const place = placeUnder(event), grid = follows() ? grids.queries : grids.keys;
  if (cellAt(grid, place) === cellAt(grid, state.hover)) return;
  moved ??= event.timeStamp;
  hover(place);
});
view.addEventListener('pointerup', (event) => {
  if (!payload || event.pointerType === 'mouse') return;
  const dragged = touch?.dragged;
  touch = null;
  const cell = follows() ? cellAt(grids.queries, state.hover) : null;
  if (!dragged || cell === null) return;
  hover(null);
  pick(cell);
});
view.addEventListener('pointercancel', () => { touch = null; if (payload) hover(null); });
view.addEventListener('pointerleave', (event) => { if (payload && event.pointerType === 'mouse') hover(null); });
view.addEventListener('click', (event) => {
  const cell = payload ? cellAt(grids.queries, placeUnder(event)) : null;
  if (cell !== null) pick(cell);
});

// Arrow keys move the query, or the key that is read where no patch looks; from the middle of the grid where it is none.
function moveCell(rows, cols) {
  const reads = isSilent(value, MEAN), grid = reads ? grids.keys : grids.queries, code = reads ? keyNow() ?? -1 : queryNow();
  const inside = (at, size) => Math.max(0, Math.min(size - 1, at)), centre = [Math.floor(grid.rows / 2), Math.floor(grid.cols / 2)];
  const [row, col] = code < 0 ? centre : [Math.floor(code / grid.cols) + rows, code % grid.cols + cols];
  const cell = [inside(row, grid.rows), inside(col, grid.cols)];
  if (reads) return hover(placeOf(grid, cell[0] * grid.cols + cell[1]));
  state.hover = null;
  choose({query: cell});
}

function moveHead(step) {
  const at = typeof state.head === 'number' ? state.head + 1 : 0, count = value.heads + 1, next = (at + step + count) % count;
  choose({head: next === 0 ? state.fusion : next - 1});
}

function release(base) {
  Object.assign(state, {hover: null, pinned: null, base});
  tellLinked('pin');
  refresh();
  notify(true);
}

function firstBase() {
  return value.prefix.includes('cls') ? queryCode(value, 'cls') : MEAN;
}

const KEYS = {
  ArrowLeft: () => moveCell(0, -1),
  ArrowRight: () => moveCell(0, 1),
  ArrowUp: () => moveCell(-1, 0),
  ArrowDown: () => moveCell(1, 0),
  Home: () => release(firstBase()),
  Escape: () => release(state.base),
  Enter: () => { const code = queryNow(); if (code >= 0) pick(code); },
  ' ': () => KEYS.Enter(),
  '[': () => moveHead(-1),
  PageUp: () => moveHead(-1),
  ']': () => moveHead(1),
  PageDown: () => moveHead(1),
  m: () => choose({head: 'mean'}),
  x: () => choose({head: 'max'}),
  n: () => choose({head: 'min'}),
};
view.addEventListener('keydown', (event) => {
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!payload || !act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});

// ---- saving

function save(format) {
  if (!scene) return;
  const {words} = value;
  const parts = [...root.querySelectorAll('.masses li')].map((row) => `${row.children[0].textContent} ${row.children[2].textContent}`);
  const lines = [
    [value.model, value.weights].filter(Boolean).join(' · '),
    value.formula,
    `${say(words, 'goes_to')}: ${parts.join(' · ')}`,
    find('.notes').textContent,
    find('.notes.site').textContent,
  ];
  const name = (ending) => fileName([value.model, `block${value.block}`, typeof state.head === 'number' ? `head${state.head}` : state.head, root.dataset.query], ending);
  const title = [find('.direction').textContent, headText(value, state.head), blockText()].join(' · ');
  const figure = {
    scene, warning: value.warning, unit: say(words, 'unit'), ticks: ticksOf(scene.top), lines,
    title,
  };
  if (format === 'csv') {
    const csv = csvOf(value, payload, scene, shown, [title, ...lines, say(words, 'unit'), value.warning]);
    saveBlob(new Blob([csv], {type: 'text/csv'}), name('csv'));
  } else if (format === 'svg') saveBlob(new Blob([svgOf(figure)], {type: 'image/svg+xml'}), name('svg'));
  else pngOf(figure, format === 'png4' ? 4 : 2).then((blob) => saveBlob(blob, name('png')));
}
for (const button of root.querySelectorAll('[data-format]')) button.addEventListener('click', () => save(button.dataset.format));

// ---- what Python sends

// A bar while a value is fetched, or while the server makes the row that a person asked for.
const showBusy = (() => {
  let timer = 0, motion = null;
  return () => {
    const busy = loading || Boolean(payload?.partial && queryNow() !== resting());
    if (busy === Boolean(timer)) return;
    clearTimeout(timer);
    timer = 0;
    root.classList.remove('waiting');
    motion?.cancel();
    motion = null;
    if (!busy) return;
    timer = setTimeout(() => {
      setText(find('.busy .text'), say(props.value.words, 'loading', {block: props.value.block}));
      root.classList.add('waiting');
      if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
      motion = find('.bar').animate([{transform: 'translateX(-100%)'}, {transform: 'translateX(400%)'}], {duration: 1200, iterations: Infinity});
    }, BUSY_AFTER);
  };
})();

async function sync() {
  const next = props.value, mine = ++sequence;
  root.classList.remove('broken');
  loading = Boolean(next?.attention);
  showBusy();
  if (!loading) {
    Object.assign(root.dataset, {state: 'empty'});
    payload = null;
    showBusy();
    if (next) controls.prepare(next, null);
    return;
  }
  let bytes, picture;
  try {
    [bytes, picture] = await Promise.all([
      fetchBytes(next.attention.url),
      next.image && next.image.url !== imageUrl ? fetchImage(next.image.url) : image,
    ]);
    if (mine !== sequence) return;
    accept(next, decodePayload(bytes, next), picture);
  } catch (error) {
    if (mine !== sequence) return;
    console.warn('attention canvas:', error);
    if (!payload) controls.prepare(next, null);
    setText(find('.failed .text'), say(next.words, 'failed', {block: next.block}));
    root.classList.add('broken');
    loading = false;
    showBusy();
  }
}
find('.retry').addEventListener('click', sync);

// A decoded value replaces the one on the screen, with all that the visitor chose and that still makes sense.
function accept(next, decoded, picture) {
  const before = grids && state.pinned !== null ? placeOf(grids.queries, state.pinned) : null;
  const first = !value, cols = grids?.queries.cols;
  image = next.image ? picture : null;
  imageUrl = next.image?.url ?? null;
  value = next;
  payload = decoded;
  scratch = emptyReading(payload);
  fused = emptyReading(payload).heads[0];
  grids = {queries: gridOf(value, image, 'queries'), keys: gridOf(value, image, 'keys')};
  state.hover = null;
  state.pinned = cellAt(grids.queries, before);
  const renamed = state.pinned !== null && (payload.partial || grids.queries.cols !== cols);
  if (first || (state.base !== MEAN && value.prefix[-1 - state.base] === undefined)) state.base = firstBase();
  if (typeof state.head === 'number' && state.head >= value.heads) state.head = state.fusion;
  settle(next);
  root.style.setProperty('--aspect', image ? image.naturalWidth / image.naturalHeight : value.cols / value.rows);
  Object.assign(root.dataset, {state: 'ready', block: value.block, shown: (Number(root.dataset.shown) || 0) + 1});
  announced = '';
  controls.prepare(value, payload);
  loading = false;
  showBusy();
  refresh();
  notify(renamed);
  const ahead = () => { for (const file of [value.before, value.after]) if (file?.url) fetchBytes(file.url).catch(() => {}); };
  if ('requestIdleCallback' in globalThis) requestIdleCallback(ahead); else setTimeout(ahead, 200);
}

root.vx = {
  get: () => value && payload && selection(),
  set: choose,
  read: () => scene && ({
    query: root.dataset.query, head: String(state.head), rows: scene.grid.rows, cols: scene.grid.cols, map: [...scene.map],
    prefix: [...shown.prefix], patches: shown.patches, padding: shown.padding, error: shown.error, top: scene.top, mask: scene.mask && [...scene.mask],
    inside: scene.window && [...scene.window.inside],
  }),
  save,
};
document.addEventListener('vx-link', hearLinked);
new ResizeObserver(schedule).observe(view);
watch('value', sync);
sync();
