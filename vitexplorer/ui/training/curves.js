// The curves of a training as plotly wants them. Nothing here touches the page.

/**
 * @typedef {object} Line one method
 * @property {string} name
 * @property {[number, number][]} points epochs passed, figure
 * @property {string} colour
 * @property {string} dash plotly's word for it
 */

/**
 * @typedef {object} Look of the page, as CSS writes it
 * @property {string} text colour
 * @property {string} muted colour of what explains
 * @property {string} line colour of the grid
 * @property {string} font families
 */

const MOST_DOTS = 40;
/** Room for the numbers, the title above and the axis below, in CSS pixels. */
const MARGIN = {l: 50, r: 12, t: 28, b: 40, pad: 0};
/** Room above the highest and below the lowest point, as a share of their distance. */
const ROOM = 0.04;

/**
 * Round numbers from `low` to `high`: 1, 2 or 5 times a power of ten apart.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} about how many are wanted
 * @returns {number[]}
 */
export function ticks(low, high, about) {
  const rough = (high - low) / about || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((one) => one * power >= rough * 0.999) * power;
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({length: Math.max(0, last - first + 1)}, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

/**
 * What an axis has to hold: all values, or half a unit around the only one; 0 to 1 where there are none.
 *
 * @param {number[]} values
 * @returns {[number, number]}
 */
export function span(values) {
  if (!values.length) return [0, 1];
  const low = Math.min(...values), high = Math.max(...values);
  return high - low < 1e-9 ? [low - 0.5, high + 0.5] : [low, high];
}

/** @param {number} value 0-1 */
export const percent = (value) => `${Math.round(100 * value)} %`;

/** A number on an axis, its minus a minus sign. */
const plain = (value) => String(value).replace('-', '\u2212');

function axis(marks, write, range, look) {
  const ticked = {tickmode: 'array', tickvals: marks, ticktext: marks.map(write), tickfont: {color: look.muted, size: 13}};
  return {...ticked, range, fixedrange: true, zeroline: false, showline: false, ticks: '', ticklabelstandoff: 4};
}

function trace({name, points, colour, dash}, share) {
  const dots = points.length <= MOST_DOTS;
  return {
    type: 'scatter', name,
    mode: dots ? 'lines+markers' : 'lines',
    x: points.map(([x]) => x), y: points.map(([, y]) => y),
    line: {color: colour, width: 2.2, dash}, marker: {color: colour, size: 5.5},
    hovertemplate: `${name}: ${share ? '%{y:.1%}' : '%{y:.4g}'} (%{x:.3g})<extra></extra>`,
    cliponaxis: false,
  };
}

/** A level across the whole chart with its name at the right, over it or, near the top, under it. */
function levelLine({value, name}, [low, high], look) {
  const across = {xref: 'paper', yref: 'y'}, below = (high - value) / (high - low) < 0.1;
  return {
    shapes: [{...across, type: 'line', x0: 0, x1: 1, y0: value, y1: value, line: {color: look.text, width: 1.5, dash: '6px,4px'}, layer: 'below'}],
    annotations: [{
      ...across, x: 1, y: value, text: name, showarrow: false, xanchor: 'right', yanchor: below ? 'top' : 'bottom',
      font: {color: look.muted, size: 13},
    }],
  };
}

/**
 * A chart of lines over epochs, for `Plotly.react`.
 *
 * @param {object} chart
 * @param {string} chart.title
 * @param {string} chart.xName
 * @param {Line[]} chart.lines
 * @param {number} chart.epochs the axis ends there
 * @param {boolean} [chart.share] whether the figures lie in 0-1 and are written as percentages
 * @param {{value: number, name: string} | null} [chart.level] what the figures are compared with
 * @param {Look} look
 * @returns {{data: object[], layout: object}}
 */
export function curves({title, xName, lines, epochs, share = false, level = null}, look) {
  const values = [...lines.flatMap(({points}) => points.map(([, y]) => y)), ...(level ? [level.value] : [])];
  const [low, high] = share ? [0, 1] : span(values), room = share ? 0 : ROOM * (high - low), last = epochs || 1;
  /** @type {[number, number]} */
  const up = [low - room, high + room];
  const whole = ticks(0, last, 8).filter(Number.isInteger);
  return {
    data: lines.map((line) => trace(line, share)),
    layout: {
      margin: MARGIN, autosize: true, showlegend: false, hovermode: 'closest', dragmode: false,
      paper_bgcolor: 'transparent', plot_bgcolor: 'transparent', font: {color: look.text, family: look.font},
      title: {text: title, x: 0, xref: 'container', xanchor: 'left', y: 1, yanchor: 'top', pad: {l: 4, t: 3}, font: {size: 13, weight: 650}},
      xaxis: {
        ...axis(whole, plain, [0, last], look), showgrid: false,
        title: {text: xName, font: {color: look.muted, size: 13}, standoff: 4},
      },
      yaxis: {...axis(ticks(low, high, 5), share ? percent : plain, up, look), gridcolor: look.line},
      ...(level ? levelLine(level, up, look) : {shapes: [], annotations: []}),
    },
  };
}
