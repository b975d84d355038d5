// The canvas as a file, PNG, SVG or CSV, with its title and provenance, and its numbers as a table.

import {table} from '../kit/dom.js';
import {labelled} from '../kit/formats.js';
import {csvFile, drawingFile, fileName, quoted, saveFile} from '../kit/saving.js';
import {blockText, directionText, headText, percent, say, ticksOf} from './captions.js';
import {drawing} from './figure.js';
import {queryText} from './queries.js';

/**
 * Makes a complete figure of the picture.
 *
 * @param {import('./selection.js').Block} block
 * @param {import('./selection.js').State} state
 * @param {import('./scene.js').View} view what is on the screen
 * @param {(selector: string) => any} find in the canvas, whose words are those of the file
 * @returns {SVGElement}
 */
export function figureOf(block, state, view, find) {
  const {value} = block;
  const {words} = value;
  const {scene, code} = view;
  const masses = [...find('.masses').children].map(
    ({children: [name, , share]}) => `${name.textContent} ${share.textContent}`,
  );
  const lines = [
    [value.model, value.weights].filter(Boolean).join(' · '),
    value.formula,
    labelled(say(words, 'goes_to'), masses.join(' · ')),
    find('.rare .notes').textContent,
    find('.notes.site').textContent,
  ];
  const title = [directionText(block, code), headText(value, state.head), blockText(value)].join(' · ');
  return drawing({
    scene,
    title,
    lines,
    unit: say(words, 'unit'),
    ticks: ticksOf(block, scene.top),
    warning: value.warning,
  });
}

/**
 * @param {string} format png2, png4, svg or csv
 * @param {import('./selection.js').Block} block
 * @param {import('./selection.js').State} state
 * @param {import('./scene.js').View} view what is on the screen
 * @param {(selector: string) => any} find in the canvas, whose words are those of the file
 */
export async function saveCanvas(format, block, state, view, find) {
  const {value, payload} = block;
  const {scene, shown, code} = view;
  const head = typeof state.head === 'number' ? `head${state.head}` : state.head;
  const query = queryText(value, code);
  const name = fileName([...value.saved_as, value.heads > 1 ? head : '', query], format.slice(0, 3));
  if (format === 'csv') {
    const table = tableOf(value, payload, scene, shown, {...value.saved_facts, head: String(state.head), query});
    return saveFile(csvFile(table), name);
  }
  saveFile(await drawingFile(figureOf(block, state, view, find), format), name);
}

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
export function numbersOf(block, state, {code, scene}) {
  const {map, grid, window} = scene;
  const {rows, cols} = grid;
  const {value} = block;
  const title = [directionText(block, code), headText(value, state.head), blockText(value)].join(' · ');
  const number = (i) => (window && !window.inside[i] ? '' : percent(map[i]));
  const across = [...Array(cols).keys()];
  const lines = [...Array(rows).keys()].map((row) => [String(row), ...across.map((col) => number(row * cols + col))]);
  return table(title, [say(value.words, 'row_by_col'), ...across.map(String)], lines, true);
}
