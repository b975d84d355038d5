// The image cut into patches. What moves with the mouse (outlines) is painted over a layer that only changes with the gap.
const root = element.querySelector('.vx-board');
const part = (selector) => root.querySelector(selector);
const words = () => props.value.words;
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
const spaced = (count) => count.toLocaleString('en');

const board = part('.patches');
const layer = document.createElement('canvas');
let image = null; // an HTMLImageElement of the pixels the model saw, once decoded
let gap = 0.12; // space between patches, in sides of a patch

// Sets the backing store to the canvas's size on the screen and gives its context; null while it is hidden.
function sharp(canvas, box = canvas.getBoundingClientRect()) {
  const scale = window.devicePixelRatio || 1;
  const width = Math.round(box.width * scale), height = Math.round(box.height * scale);
  if (!width || !height) return null;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
  const context = canvas.getContext('2d');
  context.clearRect(0, 0, width, height);
  return context;
}

// Where every patch lies in a box of `width` x `height` with a margin of `edge`: the whole always fits, the gap takes its
// room from the patches.
function geometry(width, height, edge = 0) {
  const {rows, cols} = props.value;
  const side = Math.min((width - 2 * edge) / (cols + (cols - 1) * gap), (height - 2 * edge) / (rows + (rows - 1) * gap));
  const step = side * (1 + gap);
  const left = (width - side - (cols - 1) * step) / 2, top = (height - side - (rows - 1) * step) / 2;
  return {
    side, step, left, top,
    corner: (row, col) => [left + col * step, top + row * step],
    // the patch whose cell holds the point, half of the gap on each side included; null outside the board
    at(x, y) {
      const half = (step - side) / 2;
      const row = Math.floor((y - top + half) / step), col = Math.floor((x - left + half) / step);
      return row >= 0 && col >= 0 && row < rows && col < cols ? {row, col} : null;
    },
  };
}

// The patch's rectangle in the image file: x, y, width, height.
function source(row, col) {
  const width = image.naturalWidth / props.value.cols, height = image.naturalHeight / props.value.rows;
  return [col * width, row * height, width, height];
}

// The same on the screen, with room for an outline around the outermost patches.
const boardGeometry = () => geometry(board.width, board.height, 5 * (window.devicePixelRatio || 1));

function paintLayer() {
  if (!sharp(board) || !image) return;
  const context = sharp(layer, board.getBoundingClientRect());
  const {rows, cols} = props.value, place = boardGeometry();
  if (!gap) {
    context.drawImage(image, place.left, place.top, place.side * cols, place.side * rows);
    return gridLines(context, place);
  }
  context.imageSmoothingEnabled = place.side < 2 * props.value.patch_size;
  for (let row = 0; row < rows; row++)
    for (let col = 0; col < cols; col++) {
      // whole pixels: a patch never bleeds into the gap
      const [x, y] = place.corner(row, col).map(Math.round);
      const side = Math.max(1, Math.round(place.side));
      context.drawImage(image, ...source(row, col), x, y, side, side);
    }
}

function gridLines(context, place) {
  const {rows, cols} = props.value, scale = window.devicePixelRatio || 1;
  const lines = new Path2D();
  for (let col = 1; col < cols; col++) lines.rect(Math.round(place.left + col * place.step), place.top, 0, rows * place.side);
  for (let row = 1; row < rows; row++) lines.rect(place.left, Math.round(place.top + row * place.step), cols * place.side, 0);
  const fine = place.side < 10 * scale;
  for (const [width, colour] of [[fine ? 0 : 3, 'rgba(0, 0, 0, 0.35)'], [1, `rgba(255, 255, 255, ${fine ? 0.4 : 0.75})`]]) {
    if (!width) continue;
    context.lineWidth = width * scale;
    context.strokeStyle = colour;
    context.stroke(lines);
  }
}

// White between black, seen on every ground; around the patch rather than over it.
function outline(context, x, y, side, thin = false) {
  const scale = window.devicePixelRatio || 1, out = (thin ? 0.5 : 2) * scale;
  for (const [width, colour] of thin ? [[3, '#000'], [1.2, '#fff']] : [[6, '#000'], [3, '#fff']]) {
    context.lineWidth = width * scale;
    context.strokeStyle = colour;
    context.strokeRect(x - out, y - out, side + 2 * out, side + 2 * out);
  }
}

function paintBoard(shown, kept) {
  const context = sharp(board);
  if (!context || !image) return;
  if (layer.width !== board.width || layer.height !== board.height) paintLayer();
  context.drawImage(layer, 0, 0);
  const place = boardGeometry();
  if (kept.row !== shown.row || kept.col !== shown.col) outline(context, ...place.corner(kept.row, kept.col), place.side, true);
  outline(context, ...place.corner(shown.row, shown.col), place.side);
}
