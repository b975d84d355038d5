// The board as a picture for a slide: one SVG, dark on white; the PNG is the same SVG at twice its size.
const WIDTH = 960, BOARD = 560, PANEL = 600, ZOOM = 300;
const SANS = 'system-ui, "Noto Sans", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif';
const SERIF = 'Cambria, "STIX Two Text", "Times New Roman", "Noto Serif", serif';

function svg(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const text = (x, y, size, words, more = {}) => svg('text', {x, y, 'font-size': size, fill: '#111', ...more}, words);

function dataURL(x, y, width, height) {
  const canvas = document.createElement('canvas');
  Object.assign(canvas, {width, height});
  canvas.getContext('2d').drawImage(image, x, y, width, height, 0, 0, width, height);
  return canvas.toDataURL();
}

function square(href, x, y, side, more = {}) {
  return svg('image', {href, x, y, width: side, height: side, preserveAspectRatio: 'none', style: 'image-rendering: pixelated', ...more});
}

function planeURL(channel) {
  const canvas = document.createElement('canvas'), data = plane(channel);
  Object.assign(canvas, {width: data.width, height: data.height});
  canvas.getContext('2d').putImageData(data, 0, 0);
  return canvas.toDataURL();
}

// White between black, around the patch rather than over it.
const ring = (x, y, side) =>
  [[5, '#000'], [2.5, '#fff']].map(([width, stroke]) =>
    svg('rect', {x: x - 1.5, y: y - 1.5, width: side + 3, height: side + 3, fill: 'none', stroke, 'stroke-width': width}));

function boardGroup(height, top) {
  const {rows, cols} = props.value, place = geometry(BOARD, height), {row, col} = shown();
  const group = svg('g', {transform: `translate(0 ${top})`});
  if (!gap) {
    group.append(svg('image', {href: dataURL(0, 0, image.naturalWidth, image.naturalHeight), x: place.left, y: place.top, width: cols * place.side, height: rows * place.side}));
    const lines = [];
    for (let at = 1; at < cols; at++) lines.push(`M${place.left + at * place.step} ${place.top}v${rows * place.side}`);
    for (let at = 1; at < rows; at++) lines.push(`M${place.left} ${place.top + at * place.step}h${cols * place.side}`);
    group.append(svg('path', {d: lines.join(''), stroke: '#fff', 'stroke-opacity': 0.75, fill: 'none'}));
  } else {
    for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) group.append(square(dataURL(...source(r, c)), ...place.corner(r, c), place.side));
  }
  group.append(...ring(...place.corner(row, col), place.side));
  return group;
}

function patchGroup() {
  const group = svg('g', {transform: `translate(${PANEL} 0)`}), side = (ZOOM - 24) / 3;
  const {row, col} = shown();
  group.append(text(0, 22, 20, part('h3').textContent, {'font-weight': 600}));
  group.append(text(0, 48, 15, part('.index').textContent));
  group.append(square(dataURL(...source(row, col)), 0, 64, ZOOM));
  planes.forEach((item, channel) => {
    const x = channel * (side + 12);
    group.append(square(planeURL(channel), x, 76 + ZOOM, side));
    group.append(text(x, 94 + ZOOM + side, 13, item.querySelector('.name').textContent));
  });
  group.append(text(0, 130 + ZOOM + side, 19, part('.numbers').textContent, {'font-family': SERIF}));
  return [group, 136 + ZOOM + side];
}

// The prefix tokens, the first patches, the picked one with its neighbours, the last one; null stands for what is left out.
function excerpt(picked, count) {
  const wanted = [0, 1, 2, 3, ...[-2, -1, 0, 1, 2].map((step) => picked + step), count - 1];
  const patches = [...new Set(wanted)].filter((patch) => patch >= 0 && patch < count).sort((a, b) => a - b);
  return patches.flatMap((patch, at) => (at && patch > patches[at - 1] + 1 ? [null, patch] : [patch]));
}

function sequenceGroup(top) {
  const {rows, cols, prefix_tokens: names} = props.value, picked = shown().row * cols + shown().col;
  const group = svg('g', {transform: `translate(0 ${top})`});
  let x = 0;
  const number = (index, middle) => text(middle, SIZE + 16, 12, String(index), {'text-anchor': 'middle'});
  group.append(text(0, -10, 15, part('.length').textContent));
  names.forEach((name, index) => {
    group.append(svg('rect', {x: x + 0.5, y: 0.5, width: PREFIX_SIZE - 1, height: SIZE - 1, rx: 4, fill: '#eef', stroke: '#446', 'stroke-dasharray': '4 3'}));
    group.append(text(x + PREFIX_SIZE / 2, SIZE / 2 + 4, 11, name, {'text-anchor': 'middle', textLength: Math.min(PREFIX_SIZE - 8, 11 * name.length)}));
    group.append(number(index, x + PREFIX_SIZE / 2));
    x += PREFIX;
  });
  for (const patch of excerpt(picked, rows * cols)) {
    if (patch === null) group.append(text(x + SIZE / 2, SIZE / 2 + 4, 16, '…', {'text-anchor': 'middle'}));
    else {
      group.append(square(dataURL(...source(Math.floor(patch / cols), patch % cols)), x, 0, SIZE), number(names.length + patch, x + SIZE / 2));
      if (patch === picked) group.append(...ring(x, 0, SIZE));
    }
    x += TILE;
  }
  return group;
}

// Breaks a line where words end, and between any two signs of a language that does not write spaces.
function wrap(line, width, font) {
  const context = document.createElement('canvas').getContext('2d'), lines = [''];
  context.font = font;
  for (const piece of line.match(/[\u2e80-\uffef]|[^\s\u2e80-\uffef]+\s*|\s+/g) || []) {
    if (lines.at(-1) && context.measureText(lines.at(-1) + piece.trimEnd()).width > width) lines.push('');
    lines[lines.length - 1] += piece;
  }
  return lines;
}

function picture() {
  const {rows, cols, caption} = props.value;
  const tall = Math.min(BOARD * 1.4, (BOARD * rows) / cols), [panel, panelHeight] = patchGroup();
  const sequence = Math.max(tall, panelHeight) + 44, first = sequence + SIZE + 46;
  const lines = caption.flatMap((line) => wrap(line, WIDTH, `13px ${SANS}`));
  const height = first + 19 * lines.length, margin = 24;
  const box = `${-margin} ${-margin} ${WIDTH + 2 * margin} ${height + 2 * margin}`;
  const drawing = svg('svg', {viewBox: box, width: WIDTH + 2 * margin, height: height + 2 * margin, 'font-family': SANS});
  drawing.append(svg('title', {}, board.getAttribute('aria-label').split('.')[0]));
  drawing.append(svg('rect', {x: -margin, y: -margin, width: WIDTH + 2 * margin, height: height + 2 * margin, fill: '#fff'}));
  drawing.append(boardGroup(tall, Math.max(0, panelHeight - tall) / 2), panel, sequenceGroup(sequence));
  drawing.append(...lines.map((line, at) => text(0, first + 19 * at, 13, line, {fill: '#444'})));
  return drawing;
}

async function rasterise(drawing, scale) {
  const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(drawing)], {type: 'image/svg+xml'}));
  const shot = new Image(), canvas = document.createElement('canvas');
  shot.src = url;
  await shot.decode();
  Object.assign(canvas, {width: scale * shot.width, height: scale * shot.height});
  canvas.getContext('2d').drawImage(shot, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => { canvas.toBlob(done, 'image/png'); });
}

async function save(kind) {
  const drawing = picture(), link = document.createElement('a');
  const file = kind === 'svg' ? new Blob([new XMLSerializer().serializeToString(drawing)], {type: 'image/svg+xml'}) : await rasterise(drawing, 2);
  link.href = URL.createObjectURL(file);
  link.download = `patches-${props.value.rows}x${props.value.cols}-row${shown().row}-column${shown().col}.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
