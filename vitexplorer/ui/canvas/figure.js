// The picture as a figure that stands alone: its title, colour bar, masses and provenance. Saved as PNG, SVG and CSV.
//
// The layout is a list of marks in a frame 640 wide, white whatever the page's theme; one function draws it on a canvas,
// one writes it as SVG with the text as text.

const FRAME = {width: 640, margin: 20, font: 'Inter, system-ui, "Segoe UI", Roboto, "Noto Sans CJK SC", "Microsoft YaHei", sans-serif'};
const INK = '#111827', PALE = '#4b5563';

const pencil = document.createElement('canvas').getContext('2d');

// Breaks a text into lines no wider than `width`, between words or, for Chinese, between characters.
function wrapText(text, width, font) {
  pencil.font = font;
  const lines = [''];
  for (const piece of text.match(/[\u2e80-\uffef]|[^\s\u2e80-\uffef]+\s*|\s+/g) ?? []) {
    const longer = lines.at(-1) + piece;
    if (pencil.measureText(longer.trimEnd()).width <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(piece);
  }
  return lines.map((line) => line.trimEnd());
}

// Where everything stands: {height, marks, picture: [x, y, width, height]}.
function layOut({scene, title, ticks, unit, lines, warning}) {
  const {width, margin, font} = FRAME, inner = width - 2 * margin, marks = [];
  let y = margin;
  const write = (text, size, weight, fill) => {
    for (const line of wrapText(text, inner, `${weight} ${size}px ${font}`)) {
      marks.push({kind: 'text', x: margin, y: y + size, text: line, size, weight, fill, anchor: 'start'});
      y += Math.round(size * 1.4);
    }
  };
  write(title, 19, 600, INK);
  y += 8;
  const aspect = scene.image ? scene.image.naturalHeight / scene.image.naturalWidth : scene.grid.rows / scene.grid.cols;
  const picture = [margin, y, inner, Math.round(inner * aspect)];
  marks.push({kind: 'picture'});
  if (warning) {
    const text = wrapText(warning, inner - 24, `600 14px ${font}`), high = 20 * text.length + 12;
    const top = y + picture[3] - high - 8;
    marks.push({kind: 'rect', x: margin + 8, y: top, width: inner - 16, height: high, fill: '#fef3c7'});
    text.forEach((line, i) => marks.push({kind: 'text', x: margin + 20, y: top + 20 + 20 * i, text: line, size: 14, weight: 600, fill: '#78350f', anchor: 'start'}));
  }
  y += picture[3] + 12;
  const bar = barOf(scene.mode, scene.colormap);
  marks.push({kind: 'bar', x: margin, y, width: inner, height: 14, colours: bar});
  y += 18;
  ticks.forEach((tick, i) => {
    const part = i / (ticks.length - 1);
    marks.push({kind: 'text', x: margin + part * inner, y: y + 13, text: tick, size: 13, weight: 400, fill: INK, anchor: ['start', 'middle', 'end'][Math.round(2 * part)]});
  });
  y += 20;
  marks.push({kind: 'text', x: margin + inner / 2, y: y + 13, text: unit, size: 13, weight: 400, fill: PALE, anchor: 'middle'});
  y += 26;
  for (const line of lines) if (line) write(line, 13, 400, PALE);
  return {height: y + margin - 6, marks, picture};
}

// The figure on a canvas of `ratio` pixels to each unit of the frame.
function figureCanvas(figure, ratio) {
  const {height, marks, picture} = layOut(figure), canvas = document.createElement('canvas'), ctx = canvas.getContext('2d');
  canvas.width = FRAME.width * ratio;
  canvas.height = height * ratio;
  ctx.scale(ratio, ratio);
  ctx.fillStyle = '#fff';
  ctx.fillRect(0, 0, FRAME.width, height);
  for (const mark of marks) {
    if (mark.kind === 'picture') {
      const painted = document.createElement('canvas');
      painted.width = picture[2] * ratio;
      painted.height = picture[3] * ratio;
      newPainter()(painted.getContext('2d'), painted.width, painted.height, figure.scene, ratio);
      ctx.drawImage(painted, ...picture);
    } else if (mark.kind === 'bar') {
      const gradient = ctx.createLinearGradient(mark.x, 0, mark.x + mark.width, 0);
      mark.colours.forEach((colour, i) => gradient.addColorStop(i / 255, `rgb(${colour})`));
      ctx.fillStyle = gradient;
      ctx.fillRect(mark.x, mark.y, mark.width, mark.height);
    } else if (mark.kind === 'rect') {
      ctx.fillStyle = mark.fill;
      ctx.fillRect(mark.x, mark.y, mark.width, mark.height);
    } else {
      ctx.font = `${mark.weight} ${mark.size}px ${FRAME.font}`;
      ctx.textAlign = mark.anchor === 'middle' ? 'center' : mark.anchor;
      ctx.fillStyle = mark.fill;
      ctx.fillText(mark.text, mark.x, mark.y);
    }
  }
  return canvas;
}

function pngOf(figure, ratio) {
  return new Promise((resolve) => figureCanvas(figure, ratio).toBlob(resolve, 'image/png'));
}

const escapeXml = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

// The picture of a scene as SVG marks: the image without loss, each patch a rectangle, or the interpolated map as one image.
// An inner svg cuts off patches that reach beyond the image.
function pictureSvg(scene, [x, y, width, height]) {
  const {image, grid: {rows, cols, high, wide}, map, mask, window, top, mode} = scene, w = width * wide, h = height * high;
  const out = [`<svg x="${x}" y="${y}" width="${width}" height="${height}">`], round = (value) => Number(value.toFixed(3));
  const box = (col, row, across, down) => `x="${round(col * w)}" y="${round(row * h)}" width="${round(across * w)}" height="${round(down * h)}"`;
  const embed = (canvas, place) => `<image ${place} preserveAspectRatio="none" href="${canvas.toDataURL('image/png')}"/>`;
  if (image && mode !== 'map') out.push(embed(imageCanvas(image, image.naturalWidth, image.naturalHeight, mode), `width="${width}" height="${height}"`));
  if (window) {
    const [fill, opacity] = mode === 'map' ? ['#d4d8df', 1] : [`rgb(${VEIL})`, mode === 'reveal' ? 0.92 : 0.6];
    for (const [x1, y1, x2, y2] of outsideOf(window, rows, cols)) out.push(`<rect ${box(x1, y1, x2 - x1, y2 - y1)} shape-rendering="crispEdges" fill="${fill}" fill-opacity="${opacity}"/>`);
  }
  if (scene.smooth) out.push(embed(mapCanvas(scene, document.createElement('canvas')), box(0, 0, cols, rows)));
  else {
    out.push('<g shape-rendering="crispEdges">');
    for (let i = 0; i < map.length; i++) {
      if (window && !window.inside[i]) continue;
      const [red, green, blue, alpha] = mask && !mask[i] ? paintOfDropped(mode, scene.opacity)
        : paintOf(mode, scene.colormap, scene.opacity, levelOf(map[i], top, scene.colormap));
      if (alpha > 0) out.push(`<rect ${box(i % cols, Math.floor(i / cols), 1, 1)} fill="rgb(${red},${green},${blue})" fill-opacity="${round(alpha)}"/>`);
    }
    out.push('</g>');
  }
  if (window) {
    const path = borderOf(window, rows, cols).map(([x1, y1, x2, y2]) => `M${round(x1 * w)} ${round(y1 * h)}L${round(x2 * w)} ${round(y2 * h)}`).join('');
    out.push(`<path d="${path}" stroke="#000" stroke-width="3.5" stroke-linecap="square"/><path d="${path}" stroke="#fff" stroke-width="1.5" stroke-linecap="square"/>`);
  }
  for (const {box: [left, above, across, down], colour, size, dash} of outlinesOf(scene, width, height, 1)) {
    out.push(`<rect x="${round(left)}" y="${round(above)}" width="${round(across)}" height="${round(down)}" fill="none" stroke="${colour}" stroke-width="${round(size)}" stroke-dasharray="${dash.map(round).join(' ') || 'none'}"/>`);
  }
  return [...out, '</svg>'].join('\n');
}

function svgOf(figure) {
  const {height, marks, picture} = layOut(figure), out = [];
  for (const mark of marks) {
    if (mark.kind === 'picture') out.push(pictureSvg(figure.scene, picture));
    else if (mark.kind === 'bar') {
      const stops = mark.colours.filter((_, i) => i % 5 === 0).map((colour, i) => `<stop offset="${(5 * i / 255).toFixed(4)}" stop-color="rgb(${colour})"/>`);
      out.push(`<defs><linearGradient id="bar">${stops.join('')}</linearGradient></defs>`);
      out.push(`<rect x="${mark.x}" y="${mark.y}" width="${mark.width}" height="${mark.height}" fill="url(#bar)"/>`);
    } else if (mark.kind === 'rect') out.push(`<rect x="${mark.x}" y="${mark.y}" width="${mark.width}" height="${mark.height}" fill="${mark.fill}"/>`);
    else out.push(`<text x="${mark.x}" y="${mark.y}" font-size="${mark.size}" font-weight="${mark.weight}" fill="${mark.fill}" text-anchor="${mark.anchor}">${escapeXml(mark.text)}</text>`);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${FRAME.width}" height="${height}" viewBox="0 0 ${FRAME.width} ${height}" font-family="${escapeXml(FRAME.font)}">
<rect width="100%" height="100%" fill="#fff"/>
${out.join('\n')}
</svg>
`;
}

// The numbers of the shown map: a line for each key, after lines with # that say what they are.
function csvOf(value, payload, scene, shown, lines) {
  const quote = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const out = lines.filter(Boolean).map((line) => `# ${line}`);
  out.push('token,row,col,share,shown');
  value.prefix.forEach((name, i) => { if (payload.prefixKeys[i]) out.push(`${quote(name)},,,${Number(shown.prefix[i].toPrecision(6))},`); });
  shown.map.forEach((number, i) => {
    const share = Number(number.toPrecision(6));
    const attended = !scene.window || scene.window.inside[i];
    out.push(`"patch",${Math.floor(i / scene.grid.cols)},${i % scene.grid.cols},${attended ? share : ''},${attended && (!scene.mask || scene.mask[i]) ? 1 : 0}`);
  });
  if (shown.padding > 0) out.push(`"padding",,,${Number(shown.padding.toPrecision(6))},`);
  return `${out.join('\n')}\n`;
}
