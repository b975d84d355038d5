// Numbers of a chart as a table and as a CSV file.

import {quoted} from '../../kit/saving.js';

/**
 * @param {string} chart
 * @param {any} answer
 * @param {Record<string, string>} words
 * @returns {{head: string[], rows: (string | number | null)[][]}}
 */
export function numbersOf(chart, answer, words) {
  if (chart === 'scatter' || chart === 'map') {
    const names = answer.colours.map(({name}) => name);
    const isNamed = names.length > 0;
    return {
      head: [answer.x.title || 'x', answer.y.title || 'y', ...(isNamed ? [words.chart_colour] : [])],
      rows: answer.points.map(([x, y, colour]) => [x, y, ...(isNamed ? [names[colour] ?? ''] : [])]),
    };
  }
  if (chart === 'heads') {
    return {
      head: [words.chart_block, words.chart_heads_axis, answer.title, words.where_low, words.where_high],
      rows: answer.mean.flatMap((line, block) =>
        line.flatMap((mean, head) =>
          mean === null ? [] : [[block, head, mean, answer.low[block][head], answer.high[block][head]]],
        ),
      ),
    };
  }
  if (chart === 'maps') {
    const {mean, own, axes, names} = answer;
    const cells = mean.flatMap((line, row) =>
      line.map((value, col) => [row, col, value, ...(own ? [own[row][col]] : [])]),
    );
    return {head: [...axes, ...names.slice(0, own ? 2 : 1)], rows: cells};
  }
  if (chart === 'classes') {
    return {
      head: [
        words.class_name,
        words.class_count,
        words.class_right,
        words.where_low,
        words.where_high,
        words.class_taken,
      ],
      rows: answer.rows.map(({name, count, right, low, high, taken}) => [
        name,
        count,
        right,
        low,
        high,
        taken.map((one) => `${one.name} ${one.count}`).join('; '),
      ]),
    };
  }
  if (chart === 'beside') return {head: answer.head, rows: answer.rows};
  const {edges, series} = answer;
  return {
    head: [words.where_low, words.where_high, ...series.map(({name}) => name || words.chart_images)],
    rows: edges.slice(1).map((high, at) => [edges[at], high, ...series.map(({counts}) => counts[at])]),
  };
}

/** Puts an apostrophe before a text that a spreadsheet would run as a formula, as in the file of rows. */
const guarded = (cell) =>
  /^'*[=+\-@\t\r\n＝＋－＠]/.test(cell) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? `'${cell}` : cell;

/**
 * CSV of the numbers that Excel reads, too.
 *
 * @param {{head: string[], rows: (string | number | null)[][]}} numbers
 */
export function csvOf({head, rows}) {
  const field = (cell) => {
    const text = typeof cell === 'string' ? guarded(cell) : String(cell ?? '');
    return /[",\r\n]/.test(text) ? quoted(text) : text;
  };
  return `\ufeff${[head, ...rows].map((row) => row.map(field).join(',')).join('\n')}\n`;
}
