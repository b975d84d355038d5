// One patch enlarged: its pixels, its three channels, and the numbers of the pixel under the mouse.
const zoom = part('.zoom');
const planes = [...root.querySelectorAll('.planes li')];
const tints = [[1, 0.25, 0.25], [0.2, 0.9, 0.3], [0.35, 0.5, 1]]; // how a full red, green, blue is shown
let pixel = {row: 0, col: 0}; // in the patch
let pixels = null; // ImageData of the patch at its own size

function readPatch({row, col}) {
  const side = props.value.patch_size;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = side;
  const context = canvas.getContext('2d', {willReadFrequently: true});
  context.imageSmoothingEnabled = false;
  context.drawImage(image, ...source(row, col), 0, 0, side, side);
  return context.getImageData(0, 0, side, side);
}

// `data` drawn as large squares over the whole canvas.
function enlarge(canvas, data) {
  const context = sharp(canvas);
  if (!context) return null;
  const small = document.createElement('canvas');
  Object.assign(small, {width: data.width, height: data.height});
  small.getContext('2d').putImageData(data, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  return context;
}

function plane(channel) {
  const data = new ImageData(pixels.width, pixels.height);
  for (let i = 0; i < data.data.length; i += 4) {
    const value = pixels.data[i + channel];
    data.data.set([...tints[channel].map((tint) => tint * value), 255], i);
  }
  return data;
}

function paintPixel() {
  const side = pixels.width, offset = 4 * (pixel.row * side + pixel.col);
  const context = enlarge(zoom, pixels);
  if (context) {
    const step = zoom.width / side;
    outline(context, pixel.col * step, pixel.row * step, step, true);
  }
  planes.forEach((item, channel) => {
    item.querySelector('.value').textContent = pixels.data[offset + channel];
  });
  part('.pixel').textContent = fill(words().pixel, pixel);
}

function paintPatch(patch) {
  if (!image) return;
  pixels = readPatch(patch);
  pixel = {row: Math.min(pixel.row, pixels.height - 1), col: Math.min(pixel.col, pixels.width - 1)};
  planes.forEach((item, channel) => enlarge(item.querySelector('canvas'), plane(channel)));
  paintPixel();
}

// x, y in CSS pixels of the enlarged patch
function pixelAt(x, y, box) {
  const side = pixels.width, inside = (value) => Math.max(0, Math.min(side - 1, Math.floor(value * side)));
  return {row: inside(y / box.height), col: inside(x / box.width)};
}

zoom.addEventListener('pointermove', (event) => {
  if (!pixels) return;
  const box = zoom.getBoundingClientRect();
  pixel = pixelAt(event.clientX - box.left, event.clientY - box.top, box);
  paintPixel();
});
zoom.addEventListener('keydown', (event) => {
  const step = arrows[event.key];
  if (!step || !pixels) return;
  event.preventDefault();
  const inside = (value) => Math.max(0, Math.min(pixels.width - 1, value));
  pixel = {row: inside(pixel.row + step[0]), col: inside(pixel.col + step[1])};
  paintPixel();
  say(`${part('.pixel').textContent}: ${planes.map((item) => item.textContent).join(', ')}`);
});
