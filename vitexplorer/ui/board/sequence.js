// The tokens in their order, prefix tokens first and always in sight where they leave room. Only the patches in sight
// exist as elements, so that 4,096 of them cost as much as 49.
const strip = part('.strip'), tiles = part('.tiles'), prefixes = part('.prefixes'), sight = part('.patches-in-sight');
const TILE = 38, PREFIX = 84, SIZE = 34, PREFIX_SIZE = 80, EDGE = 8; // CSS pixels: tile to tile, the tile itself, the border

const firstPatch = () => EDGE + props.value.prefix_tokens.length * PREFIX;
const pinned = () => strip.classList.contains('pinned');

function tile(index, className) {
  const node = document.createElement('div'), face = document.createElement('div'), label = document.createElement('span');
  node.className = `tile ${className}`;
  label.textContent = index;
  node.append(face, label);
  return node;
}

function prefixTile(name, index) {
  const node = tile(index, 'prefix');
  node.firstChild.textContent = name;
  node.title = fill(words().prefix, {name});
  return node;
}

function patchTile(patch, marked) {
  const {prefix_tokens: names, rows, cols} = props.value;
  const node = tile(names.length + patch, patch === marked ? 'marked' : ''), face = node.firstChild.style;
  node.dataset.patch = patch;
  node.style.left = `${firstPatch() + patch * TILE}px`;
  face.backgroundImage = `url("${image.src}")`;
  face.backgroundSize = `${cols * SIZE}px ${rows * SIZE}px`;
  face.backgroundPosition = `${-(patch % cols) * SIZE}px ${-Math.floor(patch / cols) * SIZE}px`;
  return node;
}

function layStrip() {
  const {rows, cols, prefix_tokens: names} = props.value;
  tiles.style.width = `${firstPatch() + rows * cols * TILE + EDGE}px`;
  prefixes.replaceChildren(...names.map(prefixTile));
  strip.classList.toggle('pinned', firstPatch() < strip.clientWidth / 2);
}

// marked: a patch, counted from 0
function paintStrip(marked) {
  if (!image) return;
  const count = props.value.rows * props.value.cols, left = strip.scrollLeft - firstPatch();
  const first = Math.max(0, Math.floor(left / TILE)), end = Math.min(count, Math.ceil((left + strip.clientWidth) / TILE));
  sight.replaceChildren(...Array.from({length: Math.max(0, end - first)}, (_, at) => patchTile(first + at, marked)));
}

// Brings a patch to the middle of what is free of prefix tokens.
function centre(patch) {
  const covered = pinned() ? firstPatch() : 0;
  strip.scrollLeft = firstPatch() + (patch + 0.5) * TILE - (strip.clientWidth + covered) / 2;
}
