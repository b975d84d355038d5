// Numbers of the current map as a table, as CSV and on the page.

import {table} from '../kit/dom.js';
import {directionText} from './captions.js';
import {blockText, headText, percent, say} from './texts.js';

/**
 * CSV with a line for each key; every line names the map.
 *
 * @param {any} value
 * @param {import('./payload.js').Payload} payload
 * @param {import('./picture.js').Scene} scene
 * @param {import('./payload.js').Head} shown
 * @param {Record<string, string>} facts columns that are the same in every line
 * @returns {string} comma-separated values
 */
export function tableOf(value, payload, scene, shown, facts) {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const digits = (share) => Number(share.toPrecision(6));
  const of = Object.values(facts)
    .map((fact) => (/[",\n]/.test(fact) ? quoted(fact) : fact))
    .join(',');
  const out = [];
  value.prefix.forEach((name, i) => {
    if (payload.prefixKeys[i]) out.push(`${quoted(name)},,,${digits(shown.prefix[i])},`);
  });
  shown.map.forEach((share, i) => {
    const row = Math.floor(i / scene.grid.cols);
    const col = i % scene.grid.cols;
    const attended = !scene.window || scene.window.inside[i];
    const kept = attended && (!scene.mask || scene.mask[i]);
    out.push(`"patch",${row},${col},${attended ? digits(share) : ''},${kept ? 1 : 0}`);
  });
  if (shown.padding > 0) out.push(`"padding",,,${digits(shown.padding)},`);
  const head = [...Object.keys(facts), 'token,row,col,share,shown'].join(',');
  return `${[head, ...out.map((line) => `${of},${line}`)].join('\n')}\n`;
}

/**
 * The numbers laid out as the patch grid.
 *
 * @param {import('./selection.js').Block} block
 * @param {import('./selection.js').State} state
 * @param {import('./scene.js').View} view
 */
export function numbersOf(
  block,
  state,
  {
    code,
    scene: {
      map,
      grid: {rows, cols},
      window,
    },
  },
) {
  const {value} = block;
  const title = [directionText(block, code), headText(value, state.head), blockText(value)].join(' · ');
  const number = (i) => (window && !window.inside[i] ? '' : percent(map[i]));
  const across = [...Array(cols).keys()];
  const lines = [...Array(rows).keys()].map((row) => [String(row), ...across.map((col) => number(row * cols + col))]);
  return table(title, [say(value.words, 'row_by_col'), ...across.map(String)], lines, true);
}
