// The picture: the image, the map over it, the window, the query and the key. The same on the screen and in a file.
// Under an overlay the image is grey, so that every colour is the map's.
//
// A scene is {image, grid, map, mask, window, top, mode, colormap, opacity, smooth, frames}: `grid` is that of the keys,
// `mask` and `window` may be null, `top` is the value at the end of the scale, `frames` stand around patches.
// A grid is {rows, cols, high, wide}: height and width of a patch as shares of the picture's. Patches need not end where
// the picture ends.

const SMOOTH_SAMPLES = 320;

// The grid of a value's queries, or of its keys, on the picture.
function gridOf(value, image, whose) {
  const {rows, cols, cell} = (whose === 'keys' && value.keys) || value;
  const fills = !image || !cell;
  return {rows, cols, high: fills ? 1 / rows : cell / image.naturalHeight, wide: fills ? 1 / cols : cell / image.naturalWidth};
}

// The patch of a grid at a place {y, x} in shares of the picture; null beside the patches.
function cellAt(grid, place) {
  const row = place ? Math.floor(place.y / grid.high) : -1, col = place ? Math.floor(place.x / grid.wide) : -1;
  return row >= 0 && col >= 0 && row < grid.rows && col < grid.cols ? row * grid.cols + col : null;
}

// The middle of what the picture shows of a patch.
function placeOf({cols, high, wide}, cell) {
  const middle = (at, side) => (at * side + Math.min(1, (at + 1) * side)) / 2;
  return {y: middle(Math.floor(cell / cols), high), x: middle(cell % cols, wide)};
}

// How far up the scale a value stands, 0-1: from 0 to the top, or from minus the top where weights may be negative.
function heightOf(value, top, colormap) {
  const low = colormap === SIGNED ? -top : 0;
  return top > 0 ? Math.max(0, Math.min(1, (value - low) / (top - low))) : 0;
}

// The same as a level, 0-255.
function levelOf(value, top, colormap) {
  return Math.round(255 * heightOf(value, top, colormap));
}

// Writes levels through a table into the pixels of a small canvas, a pixel to a cell.
function putCells(canvas, width, height, each) {
  if (canvas.width !== width || canvas.height !== height || !canvas.pixels) {
    canvas.width = width;
    canvas.height = height;
    canvas.pixels = canvas.getContext('2d').createImageData(width, height);
    canvas.words = new Uint32Array(canvas.pixels.data.buffer);
  }
  each(canvas.words);
  canvas.getContext('2d').putImageData(canvas.pixels, 0, 0);
  return canvas;
}

// The map of a scene as a small canvas: a pixel to a patch, or interpolated samples.
function mapCanvas(scene, canvas) {
  const {grid: {rows, cols}, map, mask, top, window} = scene, table = pixelTable(scene.mode, scene.colormap, scene.opacity);
  const paint = (value, cell) => {
    if (window && !window.inside[cell]) return 0;
    return mask && !mask[cell] ? table.dropped : table.levels[levelOf(value, top, scene.colormap)];
  };
  if (!scene.smooth) return putCells(canvas, cols, rows, (words) => {
    for (let i = 0; i < words.length; i++) words[i] = paint(map[i], i);
  });
  const factor = Math.max(1, Math.min(24, Math.floor(SMOOTH_SAMPLES / Math.max(rows, cols)))), width = cols * factor;
  const values = canvas.values?.length === width * rows * factor ? canvas.values : new Float32Array(width * rows * factor);
  canvas.values = interpolate(map, window?.inside, rows, cols, factor, values);
  return putCells(canvas, width, rows * factor, (words) => {
    for (let i = 0; i < words.length; i++) {
      const cell = Math.floor(i / width / factor) * cols + Math.floor(i % width / factor);
      words[i] = paint(values[i], cell);
    }
  });
}

// One head's map for the strip, without the image; a windowed query shows its window alone.
function paintThumb(canvas, map, mask, top, colormap, rows, cols, window) {
  const table = pixelTable('map', colormap, 1), cells = window?.local;
  putCells(canvas, window ? window.cols : cols, window ? window.rows : rows, (words) => {
    for (let i = 0; i < words.length; i++) {
      const cell = cells ? cells[i] : i;
      words[i] = mask && !mask[cell] ? table.dropped : table.levels[levelOf(map[cell], top, colormap)];
    }
  });
}

// Rectangles [left, top, right, bottom] in cells that cover every patch outside the window.
function outsideOf(window, rows, cols) {
  const found = [];
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) {
      if (window.inside[row * cols + col]) continue;
      const start = col;
      while (col + 1 < cols && !window.inside[row * cols + col + 1]) col++;
      const above = found.find((r) => r[0] === start && r[2] === col + 1 && r[3] === row);
      if (above) above[3] = row + 1;
      else found.push([start, row, col + 1, row + 1]);
    }
  }
  return found;
}

// Sides of cells [x1, y1, x2, y2] between the window and what lies outside it.
function borderOf(window, rows, cols) {
  const sides = [], inside = (row, col) => row >= 0 && col >= 0 && row < rows && col < cols && window.inside[row * cols + col];
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) {
      if (!inside(row, col)) continue;
      if (!inside(row - 1, col)) sides.push([col, row, col + 1, row]);
      if (!inside(row + 1, col)) sides.push([col, row + 1, col + 1, row + 1]);
      if (!inside(row, col - 1)) sides.push([col, row, col, row + 1]);
      if (!inside(row, col + 1)) sides.push([col + 1, row, col + 1, row + 1]);
    }
  }
  return sides;
}

const OUTSIDE = {
  overlay: {fill: 'rgba(9,12,20,0.6)', line: 'rgba(255,255,255,0.16)'},
  map: {fill: '#d4d8df', line: 'rgba(0,0,0,0.13)'},
  reveal: {fill: 'rgba(9,12,20,0.92)', line: 'rgba(255,255,255,0.12)'},
};

// The strokes of frames {grid, cell, role} around a query (black and white dashes) and a key (a white line in black):
// boxes [x, y, width, height] that lie around the patch, thinner where patches are small.
function outlinesOf({frames}, width, height, line) {
  return frames.flatMap(({grid: {cols, high, wide}, cell, role}) => {
    const w = width * wide, h = height * high, size = Math.max(1.5 * line, Math.min(3 * line, w / 6)), dash = Math.min(4 * line, w / 3);
    const x = Math.max(size / 2, cell % cols * w - size / 2), y = Math.max(size / 2, Math.floor(cell / cols) * h - size / 2);
    const right = Math.min(width - size / 2, (cell % cols + 1) * w + size / 2);
    const bottom = Math.min(height - size / 2, (Math.floor(cell / cols) + 1) * h + size / 2);
    const strokes = role === 'key' ? [{colour: '#000', size: 1.2 * size, dash: []}, {colour: '#fff', size: size / 2, dash: []}]
      : [{colour: '#fff', size, dash: []}, {colour: '#000', size, dash: [dash, dash]}];
    return strokes.map((stroke) => ({box: [x, y, right - x, bottom - y], ...stroke}));
  });
}

// The image at a size, in grey (luma of ITU-R BT.601) where the map's colours lie over it.
function imageCanvas(image, width, height, mode, canvas = document.createElement('canvas')) {
  Object.assign(canvas, {width, height});
  const pen = canvas.getContext('2d');
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(image, 0, 0, width, height);
  if (mode === 'overlay') {
    const pixels = pen.getImageData(0, 0, width, height), {data} = pixels;
    for (let i = 0; i < data.length; i += 4) data[i] = data[i + 1] = data[i + 2] = 0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2];
    pen.putImageData(pixels, 0, 0);
  }
  return canvas;
}

// A painter keeps the scaled image and its small canvases from one frame to the next.
function newPainter() {
  const cells = document.createElement('canvas'), backdrop = document.createElement('canvas');
  const hatches = new Map();
  let scaled = null;

  function backdropOf(image, width, height, mode) {
    const name = `${image.src} ${width} ${height} ${mode}`;
    if (scaled !== name) imageCanvas(image, width, height, mode, backdrop);
    scaled = name;
    return backdrop;
  }

  function hatch(ctx, colour, line) {
    const name = `${colour} ${line}`;
    if (!hatches.has(name)) {
      const size = Math.round(9 * line), tile = document.createElement('canvas'), pen = tile.getContext('2d');
      tile.width = tile.height = size;
      pen.strokeStyle = colour;
      pen.lineWidth = line;
      pen.beginPath();
      for (const shift of [-size, 0, size]) { pen.moveTo(shift, size); pen.lineTo(shift + size, 0); }
      pen.stroke();
      hatches.set(name, ctx.createPattern(tile, 'repeat'));
    }
    return hatches.get(name);
  }

  // Paints a scene into width x height pixels; `line` is the width of a thin line in pixels.
  return function paint(ctx, width, height, scene, line) {
    const {image, grid: {rows, cols, high, wide}, window, mode} = scene, w = width * wide, h = height * high;
    ctx.clearRect(0, 0, width, height);
    if (image && mode !== 'map') ctx.drawImage(backdropOf(image, width, height, mode), 0, 0);
    if (window) {
      if (!window.outside) {
        window.outside = outsideOf(window, rows, cols);
        window.border = borderOf(window, rows, cols);
      }
      ctx.beginPath();
      for (const [x1, y1, x2, y2] of window.outside) ctx.rect(x1 * w, y1 * h, (x2 - x1) * w, (y2 - y1) * h);
      for (const style of [OUTSIDE[mode].fill, hatch(ctx, OUTSIDE[mode].line, line)]) {
        ctx.fillStyle = style;
        ctx.fill();
      }
    }
    ctx.imageSmoothingEnabled = scene.smooth;
    ctx.drawImage(mapCanvas(scene, cells), 0, 0, cols * w, rows * h);
    if (window) {
      ctx.beginPath();
      for (const [x1, y1, x2, y2] of window.border) { ctx.moveTo(x1 * w, y1 * h); ctx.lineTo(x2 * w, y2 * h); }
      ctx.lineCap = 'square';
      for (const [style, size] of [['rgba(0,0,0,0.75)', 3.5], ['#fff', 1.5]]) {
        ctx.strokeStyle = style;
        ctx.lineWidth = size * line;
        ctx.stroke();
      }
    }
    for (const {box, colour, size, dash} of outlinesOf(scene, width, height, line)) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = size;
      ctx.setLineDash(dash);
      ctx.strokeRect(...box);
    }
    ctx.setLineDash([]);
  };
}
