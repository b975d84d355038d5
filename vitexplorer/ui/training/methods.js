// Methods as switches. What is set stays here; Python is told the whole choice and answers with counts and estimates.

import {inAddress, onLink, writeAddress} from '../kit/address.js';
import {make} from '../kit/dom.js';
import {form, missing} from '../kit/form.js';
import {FIRST, read, written} from './plan.js';

const AUGMENTATIONS = ['none', 'crop_flip', 'crop_flip_colour'];
const WEIGHTS = ['none', 'balanced'], HEADS = ['baseline', 'fresh'];
const FIELDS = ':is(input, select, summary)';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-methods'), part = (selector) => root.querySelector(selector);
  const on = {}, unfolded = {};  // by method, and so are these:
  /** @type {Record<string, Record<string, string>>} */
  const settings = {};
  /** @type {Record<string, string>} */
  const rates = {};
  const plan = {...FIRST};
  let linked = read(inAddress('plan'));  // what the address says, until the fields have taken it
  let shown = null;  // the last value that had methods
  let begun = '';  // keys of the methods that Python ticked
  let planOf = '';  // the training whose plan the fields took last

  // ------------------------------------------------------------------------------------ asking

  function ticked({key, impossible}) {
    return on[key] && !impossible;
  }

  /** @returns {object} all that was chosen */
  function choice() {
    const methods = shown.items.filter(ticked);
    return {methods: methods.map(({key}) => ({key, settings: settings[key] ?? {}, rate: rates[key] ?? ''})), ...plan};
  }

  /** @param {string} kind count, estimate or start */
  function ask(kind) {
    part('.refused').hidden = true;
    trigger(kind, choice());
  }

  function changed() {
    tell();
    ask('count');
  }

  /** The address names what was chosen. */
  function tell() {
    const keys = shown.items.map(({key}) => key).filter((key) => on[key]);
    writeAddress({plan: written({on: keys.join() === begun ? null : keys, settings, rates, plan})});
  }

  function take(chosen) {
    if (chosen.on) for (const key of Object.keys(on)) on[key] = chosen.on.includes(key);
    Object.assign(settings, chosen.settings);
    Object.assign(rates, chosen.rates);
    Object.assign(plan, chosen.plan);
  }

  onLink(() => {
    linked = read(inAddress('plan'));
    if (!shown) return;
    for (const one of [settings, rates]) for (const key of Object.keys(one)) delete one[key];
    take({on: begun.split(','), settings: {}, rates: {}, plan: FIRST});
    take(linked);
    showPlan(shown);
    ask('count');
  });

  // ------------------------------------------------------------------------------------ methods

  function box(data) {
    const tick = make('input', {type: 'checkbox', checked: ticked(data), disabled: Boolean(data.refused) && !ticked(data)});
    tick.addEventListener('change', () => {
      on[data.key] = tick.checked;
      changed();
    });
    return tick;
  }

  function rateField({key, rate}, words) {
    const input = make('input', {type: 'text', inputMode: 'decimal', value: rates[key] || rate});
    input.addEventListener('change', () => {
      rates[key] = input.value;
      changed();
    });
    return make('label', {}, words.methods_rate, input);
  }

  /** The settings of a method, folded until somebody wants them. */
  function more(data, words) {
    const {key, paper} = data;
    const fields = data.settings.map((one) => ({...one, value: settings[key]?.[one.name] ?? one.value}));
    const controls = form(fields, {
      typed: true,
      settled() {
        settings[key] = controls.settings();
        changed();
      },
    });
    const link = {href: data.paper_url, target: '_blank', rel: 'noopener', textContent: paper};
    const folded = make('details', {open: Boolean(unfolded[key])},
      make('summary', {textContent: words.methods_settings}),
      make('div', {className: 'settings'}, ...controls.elements, rateField(data, words)),
      ...(paper ? [make('a', link)] : []));
    folded.addEventListener('toggle', () => { unfolded[key] = folded.open; });
    return folded;
  }

  function item(data, words) {
    const {key, title, refused, sentence, counts, estimate} = data;
    const className = `item${ticked(data) ? ' on' : ''}`, dataset = {key, refused: refused ? 'yes' : 'no'};
    return make('div', {className, dataset},
      make('label', {className: 'head'}, box(data), title),
      make('p', {className: 'why', textContent: refused || sentence}),
      ...(counts ? [make('p', {className: 'counts', textContent: counts})] : []),
      ...(estimate ? [make('p', {className: 'estimated', textContent: estimate})] : []),
      ...(!refused || ticked(data) ? [more(data, words)] : []));
  }

  /** The cards anew; the field that a person is in keeps the focus. */
  function showItems({items, words}) {
    const focus = root.contains(document.activeElement) ? document.activeElement : null;
    const key = /** @type {HTMLElement | null} */ (focus?.closest('.item'))?.dataset.key;
    const fields = () => [...root.querySelectorAll(`.item[data-key="${key}"] ${FIELDS}`)];
    const place = key ? fields().indexOf(focus) : -1;
    part('.items').replaceChildren(...items.map((one) => item(one, words)));
    if (place >= 0) fields()[place]?.focus({preventScroll: true});
  }

  // ------------------------------------------------------------------------------------ the plan

  function planned(input, label) {
    input.addEventListener('change', () => {
      plan[input.name] = input.value;
      tell();
      for (const one of root.querySelectorAll('.estimated')) one.remove();  // they were for another plan
    });
    return make('label', {}, label, input);
  }

  function select(name, label, options) {
    const input = make('select', {name}, ...options.map(([key, text]) => new Option(text, key)));
    input.value = plan[name];
    return planned(input, label);
  }

  function number(name, label, min) {
    return planned(make('input', {type: 'number', name, min, step: 1, value: plan[name]}), label);
  }

  function showPlan({backbones, words}) {
    const all = (name, keys) => keys.map((key) => [key, words[`methods_${name}_${key}`]]);
    part('.plan').replaceChildren(
      number('epochs', words.methods_epochs, 1),
      number('seed', words.methods_seed, 0),
      select('augmentation', words.methods_augmentation, all('augmentation', AUGMENTATIONS)),
      select('class_weights', words.methods_weights, all('weights', WEIGHTS)),
      select('head', words.methods_head, all('head', HEADS)));
    const menu = select('backbone', words.methods_base, backbones.map(({value, label}) => [value, label]));
    menu.addEventListener('change', changed);
    part('.base').replaceChildren(menu);
  }

  // ------------------------------------------------------------------------------------ answers

  /** What is worked on, what was refused; both may come without methods. */
  function showAnswer({working, refused, ready}) {
    part('.working').textContent = working;
    part('.refused').textContent = refused;
    part('.refused').hidden = !refused;
    root.toggleAttribute('data-busy', Boolean(working));
    for (const one of root.querySelectorAll('.go button')) one.disabled = Boolean(working) || !(shown?.ready ?? ready);
  }

  /** The plan that the fields begin with: its own, or that of a training that was opened. */
  function takePlan(value) {
    if (!shown) {
      for (const {key, on: ticks} of value.items) on[key] = ticks;
      begun = value.items.filter((one) => one.on).map(({key}) => key).join();
    }
    const another = value.plan && value.plan.training !== planOf;
    if (another) {
      const {training, ...fields} = value.plan;
      planOf = training;
      Object.assign(plan, fields);
    }
    if (another || !shown) {
      take(linked);
      showPlan(value);
    }
    if (another || !inAddress('run')) linked = read('');
  }

  function showMethods(value) {
    const {words, backbone, ready} = value;
    part('h3').textContent = words.methods_title;
    part('.backbone').textContent = backbone;
    showItems(value);
    part('.start').textContent = words.methods_start;
    part('.estimate').textContent = words.methods_estimate;
    for (const one of root.querySelectorAll('.go button')) one.disabled = !ready;
    root.dataset.state = ready ? 'ready' : 'waiting';
    root.dataset.shown = Number(root.dataset.shown ?? 0) + 1;
  }

  function show(value = props.value) {
    if (!value) return;
    const kinds = missing(value.items.flatMap((one) => one.settings));
    if (kinds) {
      kinds.then(() => show(value));  // the component's value may be an answer without methods by then
      return;
    }
    showAnswer(value);
    if (!value.items.length) return;
    takePlan(value);
    shown = value;
    showMethods(value);
    if (value.plan) tell();
    const set = plan.backbone || Object.keys(settings).length || Object.keys(rates).length;
    if (!value.asked && set) changed();
  }

  part('.start').addEventListener('click', () => {
    part('.working').textContent = shown.words.methods_starting;
    ask('start');
  });
  part('.estimate').addEventListener('click', () => ask('estimate'));
  watch('value', () => show());
  show();
}
