// The board as a whole: what Python sent, which patch is looked at, and the keys and pointers that choose it.
const arrows = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
let kept = {row: 0, col: 0}; // clicked or reached by keys
let pointed = null; // under the pointer, while it is there
let url = null, turn = 0, speaking = 0;

const shown = () => pointed || kept;
const patchNumber = ({row, col}) => row * props.value.cols + col;
const tokenIndex = (patch) => props.value.prefix_tokens.length + patchNumber(patch);

// For screen readers, once the picking comes to rest.
function say(text) {
  clearTimeout(speaking);
  speaking = setTimeout(() => { part('.spoken').textContent = text; }, 400);
}

function math(node, text) {
  node.replaceChildren(...text.split(/([DP]\b)/).map((piece) => {
    if (!/^[DP]$/.test(piece)) return piece;
    const letter = document.createElement('i');
    letter.textContent = piece;
    return letter;
  }));
}

function writeFacts() {
  const {cols, prefix_tokens: prefix, patch_size: side, embed_dim: dim} = props.value;
  const patch = shown(), index = tokenIndex(patch);
  part('h3').textContent = fill(words().patch, patch);
  const sum = `${prefix.length ? `${prefix.length} + ` : ''}${patch.row} × ${cols} + ${patch.col}`;
  part('.index span').textContent = words().index;
  part('.index .math').textContent = `${sum} = ${spaced(index)}`;
  const numbers = fill(words().numbers, {n: spaced(side * side * 3)});
  math(part('.numbers'), `${side} × ${side} × 3 → ${numbers} → D = ${spaced(dim)}`);
}

function paint() {
  if (!image) return;
  paintBoard(shown(), kept);
  paintPatch(shown());
  paintStrip(patchNumber(shown()));
  writeFacts();
  Object.assign(root.dataset, {row: shown().row, col: shown().col, index: tokenIndex(shown())});
}

function look(patch, {keep = false, follow = true} = {}) {
  const before = shown();
  if (keep && patch) kept = patch;
  pointed = keep ? null : patch;
  if (follow) centre(patchNumber(shown()));
  if (keep || before.row !== shown().row || before.col !== shown().col) paint();
  if (keep) say(`${part('h3').textContent}, ${words().index} ${tokenIndex(kept)}`);
}

function pick(row, col) {
  if (!image) return;
  const {rows, cols} = props.value, inside = (value, count) => Math.max(0, Math.min(count - 1, value));
  look({row: inside(row, rows), col: inside(col, cols)}, {keep: true});
}

function writeWords() {
  const value = props.value, text = words();
  const patches = value.rows * value.cols, prefix = value.prefix_tokens.length;
  part('.gap span').textContent = text.gap;
  part('.save').setAttribute('aria-label', text.save);
  for (const kind of ['png', 'svg']) {
    part(`.${kind}`).title = text[`save_${kind}`];
    part(`.${kind}`).setAttribute('aria-label', text[`save_${kind}`]);
  }
  board.setAttribute('aria-label', `${fill(text.board, value)}. ${text.hint}`);
  zoom.setAttribute('aria-label', text.zoom);
  part('.hint').textContent = text.hint;
  planes.forEach((item, channel) => { item.querySelector('.name').textContent = text[['red', 'green', 'blue'][channel]]; });
  const length = {tokens: spaced(value.num_tokens), prefix, patches: spaced(patches)};
  part('.length').textContent = fill(prefix ? text.sequence : text.sequence_bare, length);
  strip.setAttribute('aria-label', part('.length').textContent);
  part('.failed').textContent = text.image_failed;
}

async function sync() {
  const value = props.value, mine = ++turn;
  root.toggleAttribute('data-empty', !value?.image);
  if (!value?.image) return;
  let next = image;
  if (value.image.url !== url) {
    next = new Image();
    next.src = value.image.url;
    try { await next.decode(); } catch { next = null; }
    if (mine !== turn) return; // a newer value came meanwhile
  }
  const fresh = !image || kept.row >= value.rows || kept.col >= value.cols;
  image = next;
  url = next && value.image.url;
  part('.failed').hidden = Boolean(next);
  sharp(board);
  writeWords();
  root.style.setProperty('--aspect', value.cols / value.rows);
  pointed = null;
  if (fresh) kept = {row: value.rows >> 1, col: value.cols >> 1};
  if (fresh) pixel = {row: value.patch_size >> 1, col: value.patch_size >> 1};
  layStrip();
  paintLayer();
  paint();
  centre(patchNumber(kept));
  root.dataset.ready = ++root.dataset.ready || 1;
}

const underPointer = (event) => {
  const box = board.getBoundingClientRect(), scale = board.width / box.width;
  return boardGeometry().at((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
};
const tileUnder = (event) => {
  const patch = event.target.closest('[data-patch]')?.dataset.patch;
  return patch === undefined ? null : {row: Math.floor(patch / props.value.cols), col: patch % props.value.cols};
};
for (const [node, found, follow] of [[board, underPointer, true], [strip, tileUnder, false]]) {
  node.addEventListener('pointermove', (event) => image && event.pointerType !== 'touch' && look(found(event), {follow}));
  node.addEventListener('pointerleave', () => image && look(null, {follow}));
  node.addEventListener('click', (event) => {
    const patch = image && found(event);
    if (!patch) return;
    look(patch, {keep: true, follow});
    trigger('patch_select', patch);
  });
}
board.addEventListener('keydown', (event) => {
  const {cols} = props.value || {}, step = arrows[event.key];
  if (!image || !(step || ['Home', 'End', 'Enter'].includes(event.key))) return;
  event.preventDefault();
  if (step) pick(kept.row + step[0], kept.col + step[1]);
  else if (event.key === 'Enter') trigger('patch_select', kept);
  else pick(kept.row, event.key === 'Home' ? 0 : cols - 1);
});
strip.addEventListener('keydown', (event) => {
  const step = arrows[event.key]?.[1], last = props.value && props.value.rows * props.value.cols - 1;
  if (!image || !step) return;
  event.preventDefault();
  const {cols} = props.value, patch = Math.max(0, Math.min(last, kept.row * cols + kept.col + step));
  pick(Math.floor(patch / cols), patch % cols);
});
strip.addEventListener('scroll', () => paintStrip(patchNumber(shown())));
part('.gap input').addEventListener('input', (event) => {
  gap = event.target.valueAsNumber / 100;
  paintLayer();
  paint();
});
for (const kind of ['png', 'svg']) part(`.${kind}`).addEventListener('click', () => image && save(kind));
new ResizeObserver(() => {
  if (!image) return;
  layStrip();
  paintLayer();
  paint();
  centre(patchNumber(shown()));
}).observe(root);
root.pick = pick;
root.picture = picture; // the SVG element that the buttons save
watch('value', sync);
sync();
