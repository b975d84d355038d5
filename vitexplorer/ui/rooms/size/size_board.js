// The size board: a model's parts by every way of counting, sliders for a design, and tables on demand.

import {form} from '../../controls/form.js';
import {inAddress, onLink, writeAddress} from '../../kit/address.js';
import {make, refill, setText} from '../../kit/dom.js';
import {newAside, showHead} from '../../kit/frame.js';
import {bring} from '../../kit/motion.js';
import {countTable} from './count_table.js';
import {written} from './formula_terms.js';
import {bars, table} from './story.js';

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const aside = newAside(root);
  let preset = '';
  let asked = 0;
  /** @type {Map<string, number>} */
  let moved = new Map();
  /** @type {Map<string, number>} */
  let before = new Map(); // exact counts of the last design, to mark changes
  let opened = Number(inAddress('table')); // number of the open table, from 1; 0 for none
  const fields = form(part('.fields'), {
    live: true,
    settled(name) {
      const value = fields.settings()[name];
      if (name === 'preset') [preset, moved, before] = [value, new Map(), new Map()];
      else moved.set(name, Number(value));
      ask();
    },
  });

  function ask() {
    const text = written(preset, moved);
    asked += 1;
    writeAddress({design: text});
    trigger('design', {text, asked});
  }

  // ------------------------------------------------------------------------------------ tables on demand

  function showTables({tables, words}) {
    setText(part('.ask'), words.tables);
    refill(
      part('.open'),
      ...tables.map(({label, title}, at) =>
        make('button.toggle', {title, ariaExpanded: String(at + 1 === opened), onclick: () => open(at + 1)}, label),
      ),
    );
    const shown = tables[opened - 1];
    part('.opened').replaceChildren(...(shown ? countTable(shown, words) : []));
  }

  /** @param {number} number table to open; the open one is closed */
  function open(number) {
    opened = number === opened ? 0 : number;
    writeAddress({table: opened || ''});
    showTables(props.value);
    if (opened) bring(part('.opened'), 'nearest');
  }

  onLink(() => {
    opened = Number(inAddress('table'));
    if (props.value?.rows?.length) showTables(props.value);
  });

  // ------------------------------------------------------------------------------------ values from Python

  function showStory(value) {
    const {head, body, foot} = table(value, before);
    part('.bars').replaceChildren(...bars(value));
    setText(part('.story caption'), value.title);
    part('.stage .scroll').setAttribute('aria-label', value.title);
    part('.story thead').replaceChildren(head);
    part('.story tbody').replaceChildren(...body);
    part('.story tfoot').replaceChildren(foot);
    part('.notes').replaceChildren(...value.notes.map((text) => make('li', text)));
    before = new Map(value.rows.map(({key, exact}) => [key, exact]));
  }

  /** Shows a value that answers no event: of a newly opened page, or of another model. */
  function adopt({design}) {
    const [start, ...moves] = design.split(';');
    preset = start;
    moved = new Map(moves.map((move) => move.split('=')).map(([name, value]) => [name, Number(value)]));
    before = new Map();
    if (!design) writeAddress({design: ''});
  }

  function show() {
    const value = props.value;
    root.toggleAttribute('data-empty', !value?.rows?.length);
    if (!value?.rows?.length || (value.asked && value.asked !== asked)) return;
    if (!value.asked) adopt(value);
    showHead(root, value);
    aside.show(value);
    showStory(value);
    setText(part('.design h3'), value.words.design);
    fields.show(value.fields);
    showTables(value);
    root.dataset.design = value.design;
  }

  return show;
}
