// The attention canvas in a notebook: the page's own component, fed by a widget's state instead of a server's answers.
//
// The state that Python and the notebook share is that of `attention_widget.py`. A person's choices are written into
// it, with the number of the question; the value to show comes as `_value`, its files as bytes beside it.

import {mount} from '../ui/canvas/canvas.js';
import {make} from '../ui/kit/dom.js';
import {latestOnly} from '../ui/kit/widget.js';

const DISPLAY = ['mode', 'colormap', 'opacity', 'scale', 'keep_mass', 'smooth'];
const EVENTS = ['patch_select', 'choose_block', 'adjust'];
const BRIGHT = 128; // 0-255: text that is brighter stands on a dark ground

/**
 * @typedef {object} Model anywidget's
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, callback: () => void) => void} on
 * @property {(event: string, callback: () => void) => void} off
 */

/**
 * @param {string} markup the canvas's own
 * @param {{model: Model, el: HTMLElement}} widget
 * @returns {() => void} what ends it
 */
export function render(markup, {model, el}) {
  const template = make('template', {innerHTML: markup});
  const ground = make('div.vx-ground', template.content);
  el.classList.add('vx-notebook');
  el.append(ground);
  ground.classList.toggle('dark', isLight(getComputedStyle(document.body).color));
  const root = ground.querySelector('.vx-canvas');
  const props = {value: model.get('_value')};

  function write(changes) {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  }

  function told() {
    props.value = model.get('_value');
    show();
  }

  function follow() {
    const shown = root.vx.get();
    const other = DISPLAY.filter((name) => shown && shown[name] !== model.get(name));
    if (other.length) root.vx.set(Object.fromEntries(other.map((name) => [name, model.get(name)])));
  }

  for (const name of DISPLAY) model.on(`change:${name}`, follow);
  model.on('change:_value', told);
  root.addEventListener('vx-select', ({detail}) => {
    write(Object.fromEntries([...DISPLAY, 'head', 'query'].map((name) => [name, detail[name]])));
  });
  const show = mount({
    root,
    part: (selector) => root.querySelector(selector),
    props,
    trigger: latestOnly(
      (_kind, {block, head, query, asked, to = block}) => write({block: to, head, query, _asked: asked}),
      EVENTS,
    ),
    bytes: async (url) => whole(model.get(url.split('/')[0])),
  });
  show();
  return () => {
    for (const name of DISPLAY) model.off(`change:${name}`, follow);
    model.off('change:_value', told);
  };
}

/** @param {DataView<ArrayBuffer>} view */
const whole = ({buffer, byteOffset, byteLength}) => buffer.slice(byteOffset, byteOffset + byteLength);

/** @param {string} color as a browser computes it, `rgb(0, 0, 0)` */
function isLight(color) {
  const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
  return (red + green + blue) / 3 > BRIGHT;
}
