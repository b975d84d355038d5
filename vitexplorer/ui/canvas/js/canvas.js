// The canvas: what is selected, what moves it, and what is painted for it.
//
// Outside this script a page uses, on the root element `.vx-canvas`:
//   the event `vx-select`, which bubbles; its detail is what `root.vx.get()` gives
//   root.vx.get()         {block, head, query, pinned, mode, colormap, opacity, scale, keep_mass, smooth}
//   root.vx.set(changes)  any of head, query, mode, colormap, opacity, scale, keep_mass, smooth
//   root.vx.read()        the numbers on the screen: {query, head, rows, cols, map, prefix, patches, padding,
//                         error, mask, inside, top}
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
let sequence = 0, loading = false, frame = 0, moved = null, told = '', announced = '';

// ---- what is selected

// The query whose map is shown: the hovered patch, the pinned one, or the token the canvas returns to.
function queryNow() {
  if (state.hover !== null && state.pinned === null && !payload.partial) return state.hover;
  const wanted = state.pinned ?? state.base;
  return hasQuery(payload, wanted) ? wanted : payload.index.keys().next().value;
}

// The key under the mouse, where hovering does not move the query.
function keyNow() {
  return state.hover !== null && (state.pinned !== null || payload.partial) ? state.hover : null;
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

// A click on a patch pins it; on the pinned one, releases it.
function pick(cell) {
  state.pinned = state.pinned === cell ? null : cell;
  tellLinked('pin');
  refresh();
  notify(true);
}

function hover(cell) {
  state.hover = cell;
  tellLinked('hover');
  schedule();
}

function selection() {
  const query = state.pinned ?? state.base;
  return {
    block: value.block, head: String(state.head), query: queryText(value, query), pinned: state.pinned !== null,
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
  const place = (cell) => (cell === null || cell < 0 ? null
    : [(Math.floor(cell / value.cols) + 0.5) / value.rows, (cell % value.cols + 0.5) / value.cols]);
  document.dispatchEvent(new CustomEvent('vx-link', {detail: {
    link: value.link, sender: root, kind, at: place(kind === 'hover' ? state.hover : state.pinned), token: queryText(value, state.base),
  }}));
}

function hearLinked({detail}) {
  if (!root.isConnected) return document.removeEventListener('vx-link', hearLinked);
  if (!payload || !value.link || detail.link !== value.link || detail.sender === root) return;
  const cell = detail.at && Math.floor(detail.at[0] * value.rows) * value.cols + Math.floor(detail.at[1] * value.cols);
  if (detail.kind === 'hover') state.hover = cell;
  else {
    Object.assign(state, {pinned: cell, base: queryCode(value, detail.token) ?? state.base});
    notify(false);
  }
  refresh();
}

// ---- painting

function schedule() {
  frame ||= requestAnimationFrame(repaint);
}

function refresh() {
  if (value) controls.show(value, state);
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
    map: () => shown.max,
    heads: () => Math.max(...reading.heads.map((head) => head.max)),
    block: () => blockMaximum(payload),
  }[state.scale]();
  const mask = (map) => massMask(map, state.keep_mass);
  scene = {
    image, rows: value.rows, cols: value.cols, map: shown.map, mask: mask(shown.map), window: reading.window, top,
    mode: state.mode, colormap: state.colormap, opacity: state.opacity, smooth: state.smooth,
    query: code >= 0 ? code : null, key,
  };
  const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
  if (view.width !== width || view.height !== height) Object.assign(view, {width, height});
  paint(pen, width, height, scene, ratio);
  controls.showHeads(value, [fused, ...reading.heads], state, mask, top, reading.window, code);
  controls.showMasses([shown.patches, ...shown.prefix, shown.padding].slice(0, controls.numBars()));
  showScale(top);
  showWords(code, key);
  showBusy();
  Object.assign(root.dataset, {query: queryText(value, code), head: state.head, key: key === null ? '' : queryText(value, key)});
  if (moved !== null) {
    performance.clearMeasures('vx-hover');
    performance.measure('vx-hover', {start: moved, end: performance.now()});
    moved = null;
  }
}

const ticksOf = (top) => [0, top / 2, top].map((share) => percent(share));

function showScale(top) {
  const [low, , high] = ticksOf(top), name = `${state.mode} ${state.colormap}`;
  setText(find('.low'), low);
  setText(find('.high'), high);
  if (ramp.dataset.name === name) return;
  ramp.dataset.name = name;
  putCells(ramp, 256, 1, (words) => {
    barOf(state.mode, state.colormap).forEach(([red, green, blue], i) => { words[i] = 0xff000000 | blue << 16 | green << 8 | red; });
  });
}

function showWords(code, key) {
  const {words} = value;
  setText(find('.direction'), say(words, 'direction', {query: tokenText(value, code)}));
  setText(find('.source'), [headText(value, state.head), blockText(), value.model, value.weights].filter(Boolean).join(' · '));
  root.classList.toggle('pinned', state.pinned !== null && state.pinned === code);
  const strongest = shown.map.indexOf(shown.max), read = key ?? strongest, outside = scene.window && !scene.window.inside[read];
  setText(find('.what'), say(words, key === null ? 'strongest' : 'key'));
  setText(find('.where'), tokenText(value, read));
  setText(find('.value'), outside ? say(words, 'not_attended') : percent(shown.map[read]));
  mark.style.left = `${scene.top > 0 ? 100 * Math.min(1, shown.map[read] / scene.top) : 0}%`;
  const hint = payload.partial ? 'hint_partial' : state.pinned !== null ? 'hint_pinned' : 'hint';
  setText(find('.hint'), say(words, matchMedia('(pointer: coarse)').matches ? `${hint}_touch` : hint));
  setText(find('.notes'), [say(words, `scale_${state.scale}_long`), ...notes()].join(' · '));
  announceSoon(code);
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
  return (code) => {
    const text = say(value.words, 'view_label', {
      direction: say(value.words, 'direction', {query: tokenText(value, code)}), head: headText(value, state.head),
    });
    if (text === announced) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      announced = text;
      view.setAttribute('aria-label', text);
      const read = ['.what', '.where', '.value'].map((selector) => find(selector).textContent).join(' ');
      if (root.contains(document.activeElement)) find('.live').textContent = `${text} ${read}`;
    }, REST);
  };
})();

// ---- mouse, finger, keys

function cellAt(event) {
  const box = view.getBoundingClientRect();
  const col = Math.floor((event.clientX - box.left) / box.width * value.cols);
  const row = Math.floor((event.clientY - box.top) / box.height * value.rows);
  return row >= 0 && col >= 0 && row < value.rows && col < value.cols ? row * value.cols + col : null;
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
  const cell = cellAt(event);
  if (cell === state.hover) return;
  moved ??= event.timeStamp;
  hover(cell);
});
view.addEventListener('pointerup', (event) => {
  if (!payload || event.pointerType === 'mouse') return;
  const dragged = touch?.dragged;
  touch = null;
  if (!dragged || state.hover === null || keyNow() !== null) return;
  const cell = state.hover;
  hover(null);
  pick(cell);
});
view.addEventListener('pointercancel', () => { touch = null; if (payload) hover(null); });
view.addEventListener('pointerleave', (event) => { if (payload && event.pointerType === 'mouse') hover(null); });
view.addEventListener('click', (event) => {
  const cell = payload && cellAt(event);
  if (cell !== null && cell !== undefined) pick(cell);
});

function moveQuery(rows, cols) {
  const code = queryNow(), centre = [Math.floor(value.rows / 2), Math.floor(value.cols / 2)];
  const [row, col] = code < 0 ? centre : [Math.floor(code / value.cols) + rows, code % value.cols + cols];
  const inside = (at, size) => Math.max(0, Math.min(size - 1, at));
  state.hover = null;
  choose({query: [inside(row, value.rows), inside(col, value.cols)]});
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
  ArrowLeft: () => moveQuery(0, -1),
  ArrowRight: () => moveQuery(0, 1),
  ArrowUp: () => moveQuery(-1, 0),
  ArrowDown: () => moveQuery(1, 0),
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
  ];
  const name = (ending) => fileName([value.model, `block${value.block}`, typeof state.head === 'number' ? `head${state.head}` : state.head, root.dataset.query], ending);
  const title = [find('.direction').textContent, headText(value, state.head), blockText()].join(' · ');
  const figure = {
    scene, warning: value.warning, unit: say(words, 'unit'), ticks: ticksOf(scene.top), lines,
    title,
  };
  if (format === 'csv') {
    const csv = csvOf(value, scene, shown, [title, ...lines, say(words, 'unit'), value.warning]);
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
    const busy = loading || Boolean(payload?.partial && queryNow() !== (state.pinned ?? state.base));
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
  const grid = value && [value.rows, value.cols];
  image = next.image ? picture : null;
  imageUrl = next.image?.url ?? null;
  value = next;
  payload = decoded;
  scratch = emptyReading(payload);
  fused = emptyReading(payload).heads[0];
  state.hover = null;
  if (state.pinned !== null && grid) {
    const [row, col] = [Math.floor(state.pinned / grid[1]), state.pinned % grid[1]];
    state.pinned = Math.floor((row + 0.5) / grid[0] * value.rows) * value.cols + Math.floor((col + 0.5) / grid[1] * value.cols);
  }
  if (!grid || (state.base !== MEAN && value.prefix[-1 - state.base] === undefined)) state.base = firstBase();
  if (typeof state.head === 'number' && state.head >= value.heads) state.head = state.fusion;
  settle(next);
  root.style.setProperty('--aspect', image ? image.naturalWidth / image.naturalHeight : value.cols / value.rows);
  Object.assign(root.dataset, {state: 'ready', block: value.block, shown: (Number(root.dataset.shown) || 0) + 1});
  announced = '';
  controls.prepare(value, payload);
  loading = false;
  showBusy();
  refresh();
  notify(false);
  const ahead = () => { for (const file of [value.before, value.after]) if (file?.url) fetchBytes(file.url).catch(() => {}); };
  if ('requestIdleCallback' in globalThis) requestIdleCallback(ahead); else setTimeout(ahead, 200);
}

root.vx = {
  get: () => value && payload && selection(),
  set: choose,
  read: () => scene && ({
    query: root.dataset.query, head: String(state.head), rows: scene.rows, cols: scene.cols, map: [...scene.map],
    prefix: [...shown.prefix], patches: shown.patches, padding: shown.padding, error: shown.error, top: scene.top, mask: scene.mask && [...scene.mask],
    inside: scene.window && [...scene.window.inside],
  }),
  save,
};
document.addEventListener('vx-link', hearLinked);
new ResizeObserver(schedule).observe(view);
watch('value', sync);
sync();
