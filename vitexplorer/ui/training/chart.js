// Lines on axes, drawn again in place: the picture keeps its nodes, so that a new point makes nothing blink.

const NS = 'http://www.w3.org/2000/svg';
const COLOURS = ['#4477aa', '#ee6677', '#228833', '#aa8800', '#66ccee', '#aa3377', '#888888', '#ee7733'];
const DASHES = ['', '7 3', '2 3', '9 3 2 3'];
const styleOf = (number) => ({colour: COLOURS[number % 8], dash: DASHES[Math.floor(number / 8) % 4]});
const draw = (tag, attributes, text = '') => {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
};

function ticks(low, high, about) {
  const rough = (high - low) / about || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((one) => one * power >= rough * 0.999) * power;
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({length: Math.max(0, last - first + 1)}, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

// lines: [{name, points: [[x, y]]}]; level: {value, name} or null
function chart(host, {title, xName, lines, xMax, range, level, percent}) {
  const width = 560, height = 250, left = 46, right = 10, top = 26, bottom = 36;
  const values = [...lines.flatMap(({points}) => points.map(([, y]) => y)), ...(level ? [level.value] : [])];
  let [low, high] = range ?? [Math.min(...values), Math.max(...values)];
  if (!values.length && !range) [low, high] = [0, 1];
  if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
  const x = (value) => left + value / (xMax || 1) * (width - left - right);
  const y = (value) => top + (high - value) / (high - low) * (height - top - bottom);
  const svg = draw('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
  svg.setAttribute('aria-label', title);
  svg.append(draw('text', {x: 4, y: 14, class: 'title'}, title));
  for (const value of ticks(low, high, 5)) {
    svg.append(draw('line', {x1: left, x2: width - right, y1: y(value), y2: y(value), class: 'grid'}));
    svg.append(draw('text', {x: left - 6, y: y(value) + 4, class: 'tick end'}, percent ? `${Math.round(100 * value)} %` : String(value)));
  }
  for (const value of ticks(0, xMax || 1, 8).filter(Number.isInteger)) {
    svg.append(draw('text', {x: x(value), y: height - bottom + 16, class: 'tick middle'}, String(value)));
  }
  svg.append(draw('text', {x: (left + width - right) / 2, y: height - 4, class: 'tick middle'}, xName));
  if (level) {
    svg.append(draw('line', {x1: left, x2: width - right, y1: y(level.value), y2: y(level.value), class: 'level'}));
    const below = y(level.value) < top + 20;
    svg.append(draw('text', {x: width - right, y: y(level.value) + (below ? 15 : -5), class: 'tick end'}, level.name));
  }
  lines.forEach(({name, points}, number) => {
    const {colour, dash} = styleOf(number);
    const line = draw('polyline', {
      points: points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' '),
      fill: 'none', stroke: colour, 'stroke-width': 2.2, 'stroke-dasharray': dash,
    });
    line.append(draw('title', {}, name));
    svg.append(line);
    if (points.length <= 40) for (const [px, py] of points) svg.append(draw('circle', {cx: x(px), cy: y(py), r: 2.6, fill: colour}));
  });
  host.dataset.points = lines.reduce((sum, {points}) => sum + points.length, 0);
  host.replaceChildren(svg);
}

