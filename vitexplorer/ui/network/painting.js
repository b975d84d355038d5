// Painting of the picture on two canvases. The upper one changes with the followed token, the lower one does not.

import {levelOf, pixelTable} from '../canvas/colours.js';
import {putCells} from '../canvas/picture.js';
import {filled, make} from '../kit/dom.js';
import {percent} from '../kit/formats.js';
import {headBoxes, LINE, NAME, placeOf} from './layout.js';

/** @typedef {import('./layout.js').Layout} Layout */

/**
 * @typedef {object} Scene
 * @property {any} value from Python
 * @property {HTMLImageElement} image
 * @property {HTMLCanvasElement[]} tokens one pixel a token, for each row of the grids
 * @property {Layout | null} layout null until the stage has a size
 * @property {number} width of the stage in CSS pixels
 * @property {number} height
 * @property {number[]} heads number of heads of each block
 * @property {import('./reads.js').Read[]} reads
 * @property {number} code followed token in the first grid
 * @property {ReturnType<typeof import('./pass.js').moment>} now
 */

export const GROUND = '#0b1020';
const INK = '#e2e8f0';
const FAINT = '#9fb0d0';
const BRIGHT = '#fbbf24';
const ATTENTION = '#60a5fa';
const MLP = '#fb923c';
const FAINTEST = 0.004; // smallest weight that is drawn
const FINEST = 5; // smallest patch in pixels whose edges are drawn

/** Colours of the heads: one lightness, hues apart. */
export const hueOf = (head, heads) => `hsl(${Math.round((360 * head) / heads + 140) % 360} 80% 66%)`;

/** Writes a number with its sign and two decimals. */
export const signedText = (amount) => `${amount < 0 ? '\u2212' : '+'}${Math.abs(amount).toFixed(2)}`;

/** Sets up a canvas for a size in CSS pixels and clears it. */
export function sized(canvas, width, height, scale) {
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, {width: w, height: h});
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/**
 * Makes small canvases of the tokens' colours.
 *
 * @param {Uint8Array} colours red, green, blue of each token, row of grids after row
 * @param {number[][]} grids
 * @param {number[]} hidden patches that are left out
 */
export function tokenCanvases(colours, grids, hidden) {
  let from = 0;
  return grids.map(([rows, cols]) => {
    const canvas = make('canvas', {width: cols, height: rows});
    const cells = new ImageData(cols, rows);
    for (let i = 0; i < rows * cols; i++) {
      cells.data.set(colours.subarray(from + 3 * i, from + 3 * i + 3), 4 * i);
      cells.data[4 * i + 3] = 255;
    }
    for (const patch of hidden) cells.data[4 * patch + 3] = 0;
    from += 3 * rows * cols;
    canvas.getContext('2d').putImageData(cells, 0, 0);
    return canvas;
  });
}

/** Cuts a text to a width, with dots where something is missing. */
function cutText(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let end = text.length - 1;
  while (end > 0 && pen.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
}

function write(pen, text, x, y, {align = 'center', color = INK, weight = 400, size = 13, within = Infinity} = {}) {
  Object.assign(pen, {fillStyle: color, textAlign: align, textBaseline: 'top'});
  pen.font = `${weight} ${size}px ${pen.canvas.dataset.font}`;
  pen.fillText(within === Infinity ? text : cutText(pen, text, within), x, y);
}

/** Paints everything that does not depend on the followed token. */
export function paintPicture(pen, scene) {
  const {value, layout, now, tokens} = scene;
  const {words, grids} = value;
  const blocks = grids.length - 1;
  paintImage(pen, scene);
  pen.imageSmoothingEnabled = false;
  paintLabels(pen, scene);
  grids.forEach((_, row) => {
    const box = layout.boxes[row + 1];
    const strength = row === 0 ? Number(now.cut === 1) : now.tokens(row - 1);
    pen.globalAlpha = strength;
    if (strength > 0) pen.drawImage(tokens[row], ...box);
    pen.globalAlpha = 1;
    pen.strokeStyle = '#33406b';
    pen.strokeRect(...box);
    const [x, y, wide, tall] = box;
    const name = row === 0 ? words.tokens : filled(words.block, {block: row - 1});
    write(pen, name, x + wide / 2, y + tall + 4, {weight: 700, size: 14, color: strength > 0.5 ? INK : '#5b6a92'});
    pen.globalAlpha = strength;
    if (row > 0) paintNumbers(pen, scene, row - 1, box);
    pen.globalAlpha = 1;
  });
  paintReadOut(pen, scene);
  paintAnswer(pen, scene, layout.boxes[blocks + 2]);
}

/** Paints lines from the tokens that the classifier reads, after the last block, to the answer. */
function paintReadOut(pen, {value: {read_from: names, grids, prefix}, layout, now}) {
  const [last, [x, y]] = layout.boxes.slice(-2);
  const [rows, cols] = grids.at(-1);
  const patches = Array.from({length: rows * cols}, (_, patch) => patch);
  const codes = names.flatMap((name) => (name === 'patches' ? patches : [-1 - prefix.indexOf(name)]));
  for (const code of codes) {
    const start = readFrom(last, placeOf(last, [rows, cols], code, prefix.length), y);
    const opacity = Math.min(0.8, 2 / Math.sqrt(codes.length)) * now.answer;
    curve(pen, start, [x - 3, y + NAME / 2], BRIGHT, codes.length > 2 ? 0.7 : 2, opacity, now.answer);
  }
  pen.globalAlpha = 1;
}

/**
 * Place from which a box at the height `y` reads: the token's own, or the left edge where the box is on the next row.
 *
 * @param {import('./layout.js').Box} before
 * @param {[number, number]} place
 * @param {number} y
 * @returns {[number, number]}
 */
function readFrom(before, [px, py], y) {
  const drop = y - before[1];
  return drop > 1 ? [4, py + drop] : [px, py];
}

function paintImage(pen, {value, layout, image, now}) {
  const [x, y, wide, tall] = layout.image;
  const [rows, cols] = value.grids[0];
  pen.imageSmoothingEnabled = true;
  pen.drawImage(image, x, y, wide, tall);
  pen.fillStyle = GROUND;
  for (const patch of value.hidden) {
    const [row, col] = [Math.floor(patch / cols), patch % cols];
    pen.fillRect(x + (col * wide) / cols, y + (row * tall) / rows, wide / cols, tall / rows);
  }
  if (wide / cols >= FINEST) {
    pen.strokeStyle = '#ffffff80';
    pen.lineWidth = 0.7;
    pen.beginPath();
    for (let i = 1; i < cols; i++) pen.rect(x + (i * wide) / cols, y, 0, tall);
    for (let i = 1; i < rows; i++) pen.rect(x, y + (i * tall) / rows, wide, 0);
    pen.stroke();
    pen.lineWidth = 1;
  }
  write(pen, value.words.image, x + wide / 2, y + tall + 4, {weight: 700, size: 14});
  if (now.cut > 0 && now.cut < 1) paintFlight(pen, {value, layout, image, now});
}

/** Returns how wide a text beside a grid may be before it meets the next one. */
function room({boxes}, wide) {
  return Math.max(wide + 14, Math.abs(boxes[2][0] - boxes[1][0]) - 10);
}

/** Writes at the left what the numbers under the blocks are. */
function paintLabels(pen, {value: {words, lens, has_sum: hasSum}, layout}) {
  const [x, y, wide, tall] = layout.boxes[0];
  const labels = lens.length ? [[words.read_here, FAINT]] : [];
  if (hasSum) labels.push([words.attention, ATTENTION], [words.mlp, MLP]);
  const within = 2 * room(layout, wide); // there are no numbers under the tokens
  labels.forEach(([text, color], line) => {
    write(pen, text, x, y + tall + NAME + line * LINE, {align: 'left', color, size: 12, within});
  });
}

/** Paints the patches on their way from the image to the tokens: one after the other, from the left. */
function paintFlight(pen, {value, layout, image, now}) {
  const [rows, cols] = value.grids[0];
  const [from, to] = [layout.image, layout.boxes[1]];
  const [w, h] = [image.naturalWidth / cols, image.naturalHeight / rows];
  for (let i = 0; i < rows * cols; i++) {
    if (value.hidden.includes(i)) continue;
    const [row, col] = [Math.floor(i / cols), i % cols];
    const late = 0.6 * ((col / cols) * 0.7 + (row / rows) * 0.3);
    const share = Math.max(0, Math.min(1, (now.cut - late) / (1 - 0.6)));
    if (share === 0) continue;
    const place = (box) => [box[0] + (col * box[2]) / cols, box[1] + (row * box[3]) / rows];
    const [x0, y0] = place(from);
    const [x1, y1] = place(to);
    const lift = Math.sin(Math.PI * share) * 24 * (row / rows - 0.5);
    const at = [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share + lift];
    const side = (axis, count) => (from[axis] + (to[axis] - from[axis]) * share) / count - 0.6;
    pen.drawImage(image, col * w, row * h, w, h, ...at, side(2, cols), side(3, rows));
  }
}

function paintNumbers(pen, {value}, block, [x, y, wide, tall]) {
  const middle = x + wide / 2;
  let line = y + tall + NAME;
  const read = value.lens[block];
  if (read) {
    const style = read.is_answer ? {color: BRIGHT, weight: read.share > 0.35 ? 700 : 400} : {color: FAINT};
    write(pen, `${read.name} ${read.value}`, middle, line, {...style, within: wide + 18});
  }
  if (value.lens.length) line += LINE;
  const adds = value.adds[block];
  if (!adds) return;
  const most = Math.max(1e-9, ...value.adds.flat().map(Math.abs));
  adds.forEach((amount, branch) => {
    const long = ((wide / 2 - 2) * Math.abs(amount)) / most;
    pen.fillStyle = branch === 0 ? ATTENTION : MLP;
    pen.fillRect(amount < 0 ? middle - long : middle, line + 2, Math.max(1, long), 12);
    const style = amount < 0 ? {align: 'left'} : {align: 'right'};
    write(pen, signedText(amount), middle + (amount < 0 ? 4 : -4), line + 1, {...style, size: 12});
    line += LINE;
  });
}

function paintAnswer(pen, {value, layout, now}, [x, y, wide, tall]) {
  const {answers, similarity, words, whole_label: token} = value;
  const name = answers.length ? words.answer : filled(words.similarity, {token});
  write(pen, name, x + wide / 2, y + tall + 4, {weight: 700, size: 14, within: wide + 30});
  pen.globalAlpha = now.answer;
  if (similarity.length) paintSimilarity(pen, value, [x, y, wide, tall]);
  const step = tall / Math.max(5, answers.length);
  answers.forEach(({name: called, value: text, share}, rank) => {
    const top = y + rank * step;
    const color = rank ? FAINT : BRIGHT;
    const style = {align: 'left', color, weight: rank ? 400 : 700, within: room(layout, wide)};
    write(pen, `${called} ${text}`, x, top, style);
    if (!share || step < LINE + 3) return;
    pen.fillStyle = '#24305c';
    pen.fillRect(x, top + 16, wide, 4);
    pen.fillStyle = color;
    pen.fillRect(x, top + 16, wide * share * now.answer, 4);
  });
  pen.globalAlpha = 1;
}

function paintSimilarity(pen, {similarity, hidden, grids}, box) {
  const out = new Set(hidden);
  const visible = similarity.filter((_, patch) => !out.has(patch));
  const [low, high] = [Math.min(...visible), Math.max(...visible)];
  const above = similarity.map((cosine) => cosine - low);
  const [rows, cols] = grids.at(-1);
  pen.drawImage(mapCanvas(above, high - low, rows, cols, hidden), ...box);
}

/** Draws a map in inferno, one pixel a patch, from 0 to `top`; hidden patches are left out. */
function mapCanvas(values, top, rows, cols, hidden = []) {
  const {levels} = pixelTable('map', 'inferno', 1);
  return putCells(make('canvas'), cols, rows, (words) => {
    values.forEach((value, patch) => {
      words[patch] = levels[levelOf(value, top, 'inferno')];
    });
    for (const patch of hidden) words[patch] = 0;
  });
}

/** Maps that are drawn, by the head that was read. */
const maps = new WeakMap();

/** Paints the followed token, its lines and the heads' maps. */
export function paintReads(pen, scene) {
  const {value, layout, reads, now} = scene;
  reads.forEach((read, block) => {
    pen.globalAlpha = 1;
    if (now.links(block) > 0) paintLinks(pen, scene, read, block);
  });
  pen.imageSmoothingEnabled = false;
  reads.forEach(({heads}, block) => {
    const facts = value.strip.blocks[block];
    const {rows, cols} = facts.keys ?? facts;
    pen.globalAlpha = now.links(block);
    const places = headBoxes(layout, block + 2, facts.heads);
    heads.forEach((head, h) => {
      if (!maps.has(head)) maps.set(head, mapCanvas(head.map, head.max, rows, cols));
      if (now.links(block) > 0) pen.drawImage(maps.get(head), ...places[h]);
      pen.strokeStyle = hueOf(h, facts.heads);
      pen.lineWidth = 1;
      pen.strokeRect(...places[h]);
    });
  });
  pen.globalAlpha = 1;
  value.grids.forEach((_, row) => {
    if (row === 0 ? now.cut === 1 : now.tokens(row - 1) > 0.5) paintFollowed(pen, scene, row);
  });
}

const codeAt = ({reads, code}, row) => (row === 0 ? code : (reads[row - 1]?.code ?? code));

function paintLinks(pen, scene, read, block) {
  const {value, layout, now} = scene;
  const [before, after] = [layout.boxes[block + 1], layout.boxes[block + 2]];
  const prefix = value.prefix.length;
  const facts = value.strip.blocks[block];
  const keys = facts.keys ? [facts.keys.rows, facts.keys.cols] : value.grids[block + 1];
  const end = placeOf(after, value.grids[block + 1], read.code, prefix);
  const start = (code, grid) => readFrom(before, placeOf(before, grid, code, prefix), after[1]);
  const strength = now.links(block);
  paintBorder(pen, before, keys, read.border, strength);
  curve(pen, start(codeAt(scene, block), value.grids[block]), end, '#ffffff', 2, 0.6 * strength, strength);
  read.links.forEach((links, head) => {
    for (const {code, weight} of links) {
      if (weight < FAINTEST) continue;
      const opacity = (0.25 + Math.min(0.6, 3 * weight)) * strength;
      const place = start(code, keys);
      curve(pen, place, end, hueOf(head, facts.heads), Math.min(7, 0.7 + 14 * weight), opacity, strength);
    }
  });
}

/** Paints the window that the token sees, on the tokens that it reads. */
function paintBorder(pen, [x, y, wide, tall], [rows, cols], border, strength) {
  pen.globalAlpha = 0.9 * strength;
  pen.strokeStyle = '#ffffff';
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (const [left, top, right, bottom] of border) {
    pen.moveTo(x + (left * wide) / cols, y + (top * tall) / rows);
    pen.lineTo(x + (right * wide) / cols, y + (bottom * tall) / rows);
  }
  pen.stroke();
}

function curve(pen, [x0, y0], [x1, y1], color, width, opacity, share) {
  const bend = 0.45 * (x1 - x0);
  pen.globalAlpha = opacity;
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.lineCap = 'round';
  const whole = Math.hypot(x1 - x0, y1 - y0) * 1.2;
  pen.setLineDash(share < 1 ? [whole * share, whole * 2] : []);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  pen.stroke();
  pen.setLineDash([]);
}

function paintFollowed(pen, scene, row) {
  const {value, layout} = scene;
  const [rows, cols] = value.grids[row];
  const box = layout.boxes[row + 1];
  const prefix = value.prefix.length;
  const code = codeAt(scene, row);
  for (let i = 0; i < prefix; i++) dot(pen, placeOf(box, [rows, cols], -1 - i, prefix), code === -1 - i);
  if (code < -prefix) dot(pen, placeOf(box, [rows, cols], code, prefix), true);
  if (code < 0) return;
  const [x, y] = placeOf(box, [rows, cols], code, prefix);
  const [w, h] = [box[2] / cols, box[3] / rows];
  for (const [width, color] of /** @type {[number, string][]} */ ([
    [4, '#000'],
    [2, '#fff'],
  ])) {
    pen.lineWidth = width;
    pen.strokeStyle = color;
    pen.strokeRect(x - w / 2 - 1, y - h / 2 - 1, w + 2, h + 2);
  }
}

function dot(pen, [x, y], isFollowed) {
  pen.beginPath();
  pen.arc(x, y, isFollowed ? 8 : 6, 0, 2 * Math.PI);
  pen.fillStyle = isFollowed ? '#ffffff' : '#64748b';
  pen.fill();
  pen.lineWidth = 1.5;
  pen.strokeStyle = '#ffffff';
  pen.stroke();
}

/**
 * Share of the attention of some heads that their lines hold, in words.
 *
 * @param {{code: number, weight: number}[][]} heads links of each
 */
export function drawnShare(heads) {
  const drawn = heads.flat().filter(({weight}) => weight >= FAINTEST);
  return percent(drawn.reduce((sum, {weight}) => sum + weight, 0) / heads.length);
}
