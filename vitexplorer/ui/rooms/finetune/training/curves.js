// Curves of a training as plotly data, in words and as a table, for screen readers. Does not touch the page.

import {table} from '../../../kit/dom.js';
import {followed, labelled, listed, percent} from '../../../kit/formats.js';

/**
 * @typedef {object} Line one method
 * @property {string} name
 * @property {[number, number][]} points epochs passed, value
 * @property {string} colour
 * @property {string} dash plotly's name of the dash pattern
 */

/**
 * @typedef {object} Look colours and font of the page, as in CSS
 * @property {string} text colour
 * @property {string} muted colour of secondary text
 * @property {string} line colour of the grid
 * @property {string} font families
 */

const MOST_DOTS = 40;
/** Room for the numbers, the title above and the axis below, in CSS pixels. */
const MARGIN = {l: 50, r: 12, t: 28, b: 40, pad: 0};

function trace({name, points, colour, dash}, unit, suffix) {
  const dots = points.length <= MOST_DOTS;
  return {
    type: 'scatter',
    name,
    mode: dots ? 'lines+markers' : 'lines',
    x: points.map(([x]) => x),
    y: points.map(([, y]) => unit * y),
    line: {color: colour, width: 2.2, dash},
    marker: {color: colour, size: 5.5},
    hovertemplate: `${labelled(name, `%{y:.4g}${suffix}`)} (%{x:.3g})<extra></extra>`,
    cliponaxis: false,
  };
}

/** Horizontal line with its name at the right; a trace like the others, so that the axis includes it. */
function levelLine({value, name}, last, unit, look) {
  return {
    type: 'scatter',
    mode: 'lines+text',
    x: [0, last],
    y: [unit * value, unit * value],
    hoverinfo: 'skip',
    cliponaxis: false,
    line: {color: look.text, width: 1.5, dash: '6px,4px'},
    text: ['', name],
    textposition: 'top left',
    textfont: {color: look.muted, size: 13},
  };
}

/**
 * Returns a chart of lines over epochs, for `Plotly.react`.
 *
 * @param {object} chart
 * @param {string} chart.title
 * @param {string} chart.xName
 * @param {Line[]} chart.lines
 * @param {number} chart.epochs end of the axis
 * @param {boolean} [chart.share] true where values lie in 0-1 and are written as percentages
 * @param {{value: number, name: string} | null} [chart.level] baseline
 * @param {Look} look
 * @returns {{data: object[], layout: object}}
 */
export function curves({title, xName, lines, epochs, share = false, level = null}, look) {
  const last = epochs || 1;
  const [unit, suffix] = share ? [100, ' %'] : [1, ''];
  const axis = {
    tickfont: {color: look.muted, size: 13},
    fixedrange: true,
    zeroline: false,
    showline: false,
    ticks: '',
    ticklabelstandoff: 4,
  };
  const isEmpty = !level && lines.every(({points}) => !points.length);
  return {
    data: [...(level ? [levelLine(level, last, unit, look)] : []), ...lines.map((line) => trace(line, unit, suffix))],
    layout: {
      margin: MARGIN,
      autosize: true,
      showlegend: false,
      hovermode: 'closest',
      dragmode: false,
      paper_bgcolor: 'transparent',
      plot_bgcolor: 'transparent',
      font: {color: look.text, family: look.font},
      title: {
        text: title,
        x: 0,
        xref: 'container',
        xanchor: 'left',
        y: 1,
        yanchor: 'top',
        pad: {l: 4, t: 3},
        font: {size: 13, weight: 650},
      },
      xaxis: {
        ...axis,
        range: [0, last],
        ...(last > 8 ? {nticks: 8} : {dtick: 1}),
        showgrid: false, // whole numbers only
        title: {text: xName, font: {color: look.muted, size: 13}, standoff: 4},
      },
      yaxis: {
        ...axis,
        nticks: 6,
        ticksuffix: suffix,
        gridcolor: look.line,
        ...(share || isEmpty ? {range: [0, unit]} : {}),
      },
    },
  };
}

const DIGITS = 4;

/** @typedef {Parameters<typeof import('./curves.js').curves>[0]} Chart */

/** Formats a loss with four digits, a share as a percentage. */
const written = (figure, share) => (share ? percent(figure) : String(Number(figure.toPrecision(DIGITS))));

/**
 * Describes the chart and the last value of each line.
 *
 * @param {Pick<Chart, 'title' | 'lines' | 'share' | 'level'>} chart
 */
export function said({title, lines, share = false, level = null}) {
  const ends = lines
    .filter(({points}) => points.length)
    .map(({name, points}) => ({name, value: points[points.length - 1][1]}));
  const all = [...ends, ...(level ? [level] : [])].map(({name, value}) => `${name} ${written(value, share)}`);
  return all.length ? followed(title, listed(all)) : title;
}

/**
 * Table of every point of every line.
 *
 * @param {Pick<Chart, 'title' | 'xName' | 'lines' | 'share'>} chart
 * @param {string} method heading of the lines' names
 */
export function numbersOf({title, xName, lines, share = false}, method) {
  const row = ({name}, [epoch, figure]) => [name, String(Number(epoch.toPrecision(DIGITS))), written(figure, share)];
  return table(
    title,
    [method, xName, title],
    lines.flatMap((line) => line.points.map((point) => row(line, point))),
    true,
  );
}
