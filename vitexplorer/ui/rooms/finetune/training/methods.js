// Switches of the methods. The settings stay in the browser, which sends the whole choice; Python answers with counts
// and estimates.

import {form} from '../../../controls/form.js';
import {inAddress, onLink, writeAddress} from '../../../kit/address.js';
import {make, setText, showSentence} from '../../../kit/dom.js';

/** @param {import('../../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const on = {}; // true for ticked methods; this and the following maps are by method
  /** @type {Record<string, Record<string, string>>} */
  let settings = {};
  /** @type {Map<string, ReturnType<typeof newCard>>} */
  const cards = new Map();
  /** @type {Record<string, string>} */
  let first = {}; // defaults of the plan's fields
  let plan = first; // current values of the plan's fields
  let linked = read(inAddress('plan')); // choice of the address, until the fields have taken it
  let shown = null; // the last value with methods
  let begun = ''; // keys of the methods that Python ticked
  let planOf = ''; // the training whose plan the fields took last

  const base = form(part('.base'), {
    typed: true,
    settled() {
      plan = {...plan, ...base.settings()};
      changed();
    },
  });
  const fields = form(part('.plan'), {
    typed: true,
    settled() {
      plan = {...plan, ...fields.settings()};
      tell();
      for (const one of root.querySelectorAll('.estimated')) setText(one, ''); // the estimates were for another plan
    },
  });

  // ------------------------------------------------------------------------------------ events

  function ticked({key, impossible}) {
    return on[key] && !impossible;
  }

  /** @returns {object} the whole choice */
  function choice() {
    const methods = shown.items.filter(ticked);
    return {methods: methods.map(({key}) => ({key, settings: settings[key] ?? {}})), ...plan};
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

  /** Writes the choice into the address. */
  function tell() {
    const keys = shown.items.map(({key}) => key).filter((key) => on[key]);
    writeAddress({plan: written({on: keys.join() === begun ? null : keys, settings, plan}, first)});
  }

  function take(chosen) {
    if (chosen.on) for (const key of Object.keys(on)) on[key] = chosen.on.includes(key);
    Object.assign(settings, chosen.settings);
    plan = {...plan, ...Object.fromEntries(Object.entries(chosen.plan).filter(([name]) => Object.hasOwn(first, name)))};
  }

  onLink(() => {
    linked = read(inAddress('plan'));
    if (!shown) return;
    settings = {};
    take({on: begun.split(','), settings: {}, plan: first});
    take(linked);
    showPlan(shown);
    ask('count');
  });

  // ------------------------------------------------------------------------------------ methods

  function newCard(key) {
    const box = make('input', {
      type: 'checkbox',
      onchange() {
        on[key] = box.checked;
        changed();
      },
    });
    const title = make('span');
    const line = (className) => make('p', {className});
    const why = line('why');
    const counts = line('counts');
    const estimated = line('estimated');
    const summary = make('summary');
    const host = make('div.settings');
    const paper = make('a', {target: '_blank', rel: 'noopener'});
    const more = make('details', summary, host, paper);
    const node = make('div.item', {dataset: {key}}, make('label.head', box, title), why, counts, estimated, more);
    const controls = form(host, {
      typed: true,
      settled() {
        settings[key] = controls.settings();
        changed();
      },
    });

    function show(data, words) {
      const isOn = Boolean(ticked(data));
      const {refused, settings: own} = data;
      node.classList.toggle('on', isOn);
      node.dataset.refused = refused ? 'yes' : 'no';
      Object.assign(box, {checked: isOn, disabled: Boolean(refused) && !isOn});
      more.hidden = Boolean(refused) && !isOn;
      setText(title, data.title);
      setText(why, refused || data.sentence);
      setText(counts, data.counts);
      setText(estimated, data.estimate);
      setText(summary, words.methods_settings);
      setText(paper, data.paper);
      paper.href = data.paper_url;
      controls.show(own.map((one) => ({...one, value: settings[key]?.[one.name] ?? one.value})));
    }

    return {node, show};
  }

  /** Shows the cards in Python's order; the focus stays in its control. */
  function showItems({items, words}) {
    for (const {key} of items) if (!cards.has(key)) cards.set(key, newCard(key));
    const place = part('.items');
    const nodes = items.map(({key}) => cards.get(key).node);
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    if (nodes.some((node, at) => node !== place.children[at])) place.replaceChildren(...nodes);
    if (place.contains(focused)) focused.focus({preventScroll: true});
    for (const item of items) cards.get(item.key).show(item, words);
  }

  function showPlan({fields: all}) {
    const now = all.map((one) => ({...one, value: plan[one.name]}));
    base.show(now.filter(({name}) => name === 'backbone'));
    fields.show(now.filter(({name}) => name !== 'backbone'));
  }

  // ------------------------------------------------------------------------------------ answers

  /** Shows progress or a refusal; such values may have no methods. */
  function showAnswer({working, refused, ready}) {
    part('.working').textContent = working;
    showSentence(part('.refused'), refused);
    root.toggleAttribute('data-busy', Boolean(working));
    for (const one of root.querySelectorAll('.go button')) one.disabled = Boolean(working) || !(shown?.ready ?? ready);
  }

  /** Fills the fields with their defaults, or with the plan of an opened training. */
  function takePlan(value) {
    if (!shown) {
      for (const {key, on: ticks} of value.items) on[key] = ticks;
      begun = value.items
        .filter((one) => one.on)
        .map(({key}) => key)
        .join();
      first = Object.fromEntries(value.fields.map((one) => [one.name, one.value]));
      plan = {...first};
    }
    const {training = '', ...planned} = value.plan;
    const another = training && training !== planOf;
    if (another) {
      planOf = training;
      plan = {...plan, ...planned};
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

  function show() {
    const value = props.value;
    if (!value) return;
    showAnswer(value);
    if (!value.items.length) return;
    takePlan(value);
    shown = value;
    showMethods(value);
    if (value.plan.training) tell();
    if (!value.asked && (plan.backbone || Object.keys(settings).length)) changed();
  }

  part('.start').addEventListener('click', () => {
    part('.working').textContent = shown.words.methods_starting;
    ask('start');
  });
  part('.estimate').addEventListener('click', () => ask('estimate'));
  return show;
}

/**
 * @typedef {object} Chosen
 * @property {string[] | null} on keys of the ticked methods; null for the methods that Python ticks
 * @property {Record<string, Record<string, string>>} settings by method
 * @property {Record<string, string>} plan
 */

/**
 * @param {Chosen} chosen
 * @param {Record<string, string>} first defaults of the plan's fields
 * @returns {string} empty where nothing was chosen
 */
export function written({on, settings, plan}, first) {
  const others = Object.fromEntries(Object.entries(plan).filter(([name, value]) => value !== first[name]));
  const said = Object.entries({settings, plan: others}).filter(([, one]) => Object.keys(one).length);
  return on || said.length ? JSON.stringify({...(on && {on}), ...Object.fromEntries(said)}) : '';
}

const texts = (one) => Object.fromEntries(Object.entries(one ?? {}).filter(([, value]) => typeof value === 'string'));

/**
 * Parses the text of an address, which may be invalid; Python checks the values.
 *
 * @param {string} text
 * @returns {Chosen}
 */
export function read(text) {
  let said = null;
  try {
    said = JSON.parse(text);
  } catch {
    /* nothing was chosen, or nonsense */
  }
  const {on, settings, plan} = said ?? {};
  return {
    on: Array.isArray(on) ? on.map(String) : null,
    settings: Object.fromEntries(Object.entries(settings ?? {}).map(([key, one]) => [key, texts(one)])),
    plan: texts(plan),
  };
}
