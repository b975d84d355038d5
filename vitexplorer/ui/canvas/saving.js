// Saving of the canvas as PNG, SVG or CSV, with its title and provenance.

import {labelled} from '../kit/formats.js';
import {fileName, pngFile, saveFile, svgFile} from '../kit/saving.js';
import {directionText, ticksOf} from './captions.js';
import {drawing} from './figure.js';
import {queryText} from './queries.js';
import {tableOf} from './table.js';
import {blockText, headText, say} from './texts.js';

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
    return saveFile(new Blob(['\ufeff', table], {type: 'text/csv'}), name);
  }
  const figure = figureOf(block, state, view, find);
  const scale = format === 'png4' ? 4 : 2;
  saveFile(format === 'svg' ? svgFile(figure) : await pngFile(figure, scale), name);
}
