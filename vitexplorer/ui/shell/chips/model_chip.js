// Model chip: the current model, and a list to search for others. Any typed name can be requested if Python allows it.

import {filled, make, refill, setText} from '../../kit/dom.js';
import {labelled} from '../../kit/formats.js';
import {chip, segments} from './chip.js';
import {modelFile} from './model_file.js';

/** True if the typed text is the path of a file or folder, not the name of a model. */
const isPath = (text) => /[\\/]/.test(text) || /^~|\.(safetensors|zip|bin|pth|pt|ckpt|tar)$/i.test(text);

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const {sheet, say, close, onOpen} = chip(root);
  const search = part('.search');
  const list = part('.list');
  let options = [];
  let active = -1;
  list.id = `${sheet.id}-list`;
  search.setAttribute('aria-controls', list.id);

  function choose(model) {
    close();
    if (model !== props.value.name) trigger('choose', {model});
  }

  const file = modelFile({root, sheet, value: () => props.value, choose});

  function option({name, title, state, typed}) {
    return make(
      'button',
      {
        role: 'option',
        tabIndex: -1,
        id: `${list.id}-${name}`,
        ariaSelected: String(name === props.value.name),
        onclick: () => choose(name),
      },
      make('b', title),
      make('span.state', state),
      make('span.name', {hidden: !typed}, typed),
    );
  }

  function typedOption(name) {
    const {words} = props.value;
    return option({name, title: filled(words.model_typed, {name}), state: '', typed: name});
  }

  function pathOption(path) {
    return make(
      'button',
      {role: 'option', tabIndex: -1, id: `${list.id}-path`, onclick: () => file.openPath(path)},
      make('b', props.value.words.file_named),
      make('span.name', path),
    );
  }

  function mark(index) {
    options[active]?.classList.remove('active');
    active = options.length ? (index + options.length) % options.length : -1;
    options[active]?.classList.add('active');
    options[active]?.scrollIntoView({block: 'nearest'});
    search.setAttribute('aria-activedescendant', options[active]?.id ?? '');
  }

  function filter() {
    const {models, any, words} = props.value;
    const query = search.value.trim();
    const hits = matching(models, query, ['name', 'title', 'family', 'state']);
    const isOtherName = any && /^[A-Za-z0-9_.]+$/.test(query) && !models.some(({name}) => name === query);
    list.replaceChildren(
      ...grouped(hits, 'family').flatMap(([family, entries]) => [make('h3', family), ...entries.map(option)]),
    );
    if (props.value.named && isPath(query)) list.append(pathOption(query));
    else if (isOtherName) list.append(typedOption(query));
    options = [...list.querySelectorAll('button')];
    setText(part('.found'), options.length ? words[any ? 'model_info' : 'model_info_closed'] : words.model_not_found);
    const isBest = (node) => (query ? node.id === `${list.id}-${query}` : node.ariaSelected === 'true');
    mark(Math.max(0, options.findIndex(isBest)));
  }

  search.addEventListener('input', filter);
  search.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) mark(active + step);
    else if (event.key === 'Enter') options[active]?.click();
    else return;
    event.preventDefault();
  });
  // The field gets the focus when the sheet opens, so it may contain the first letters before this event.
  onOpen(filter);
  sheet.addEventListener('toggle', (/** @type {ToggleEvent} */ event) => {
    if (event.newState === 'closed') search.value = '';
  });

  function showWeights({weights, words, title}) {
    part('.weights').hidden = !weights;
    part('.weights legend').textContent = words.weights;
    const kinds = ['trained', 'random'].map((value) => ({value, label: words[`weights_${value}`]}));
    const choose = (kind) => trigger('choose', {weights: kind});
    refill(part('.weights .segments'), ...segments(`${sheet.id}-weights`, kinds, weights, choose));
    part('.weights').setAttribute('aria-label', labelled(words.weights, title));
  }

  function show() {
    const value = props.value;
    if (!value) return;
    say(value.words.model, value.title, value.note);
    setText(part('.sentence'), value.sentence);
    refill(part('.said'), ...value.notes.map((note) => make('li', note)));
    file.update();
    search.placeholder = value.words.model_search;
    search.setAttribute('aria-label', value.words.model_search);
    list.setAttribute('aria-label', value.words.model);
    showWeights(value);
    root.dataset.model = value.name;
    if (sheet.matches(':popover-open')) filter();
  }

  return show;
}

/**
 * Returns the entries that contain every word of the query, in upper or lower case.
 *
 * @template {Record<string, any>} Entry
 * @param {Entry[]} entries
 * @param {string} query
 * @param {string[]} fields fields to search
 * @returns {Entry[]}
 */
export function matching(entries, query, fields) {
  const pieces = query.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const text = fields
      .map((field) => entry[field])
      .join(' ')
      .toLowerCase();
    return pieces.every((piece) => text.includes(piece));
  });
}

/**
 * Groups entries by the value of a field, in order of first occurrence.
 *
 * @template {Record<string, any>} Entry
 * @param {Entry[]} entries
 * @param {string} field
 * @returns {[string, Entry[]][]}
 */
export function grouped(entries, field) {
  /** @type {Map<string, Entry[]>} */
  const groups = new Map();
  for (const entry of entries) groups.set(entry[field], [...(groups.get(entry[field]) ?? []), entry]);
  return [...groups];
}
