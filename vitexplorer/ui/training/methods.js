// Methods as switches. What is set stays here; Python is told the whole choice and answers with counts and estimates.

const root = element.querySelector('.vx-methods'), part = (selector) => root.querySelector(selector);
const on = {}, settings = {}, rates = {}, unfolded = {};
const plan = {epochs: '10', seed: '0', augmentation: 'crop_flip', class_weights: 'none', backbone: ''};
let shown = null;  // the last value that had methods
let planOf = '';  // the training whose plan the fields took last

const choice = () => ({
  methods: shown.items.filter(({key, impossible}) => on[key] && !impossible).map(({key}) => ({key, settings: settings[key] ?? {}, rate: rates[key] ?? ''})),
  ...plan,
});
const ask = (kind) => { part('.refused').hidden = true; trigger(kind, choice()); };
const changed = () => ask('count');

function field(data, key) {
  let input;
  if (data.options.length) {
    input = make('select');
    input.append(...data.options.map(({value, label}) => new Option(label, value)));
  } else {
    input = make('input', {type: 'number', min: data.low, max: data.high, step: data.step});
  }
  input.value = settings[key]?.[data.name] ?? data.value;
  input.addEventListener('change', () => { (settings[key] ??= {})[data.name] = input.value; changed(); });
  return make('label', {}, data.label, input);
}

function item(data, words) {
  const {key} = data, ticked = Boolean(on[key]) && !data.impossible;
  const box = make('input', {type: 'checkbox', checked: ticked});
  box.disabled = Boolean(data.refused) && !ticked;
  box.addEventListener('change', () => { on[key] = box.checked; changed(); });
  const card = make('div', {className: `item${ticked ? ' on' : ''}`},
    make('label', {className: 'head'}, box, data.title),
    make('p', {className: 'why', textContent: data.refused || data.sentence}));
  card.dataset.key = key;
  card.dataset.refused = data.refused ? 'yes' : 'no';
  if (data.counts) card.append(make('p', {className: 'counts', textContent: data.counts}));
  if (data.estimate) card.append(make('p', {className: 'estimated', textContent: data.estimate}));
  const rate = make('input', {type: 'text', inputMode: 'decimal', value: rates[key] || data.rate});
  rate.addEventListener('change', () => { rates[key] = rate.value; changed(); });
  const more = make('details', {open: Boolean(unfolded[key])}, make('summary', {textContent: words.methods_settings}),
    make('div', {className: 'settings'}, ...data.settings.map((one) => field(one, key)), make('label', {}, words.methods_rate, rate)));
  more.addEventListener('toggle', () => { unfolded[key] = more.open; });
  if (data.paper) more.append(make('a', {href: data.paper_url, target: '_blank', rel: 'noopener', textContent: data.paper}));
  if (!data.refused || ticked) card.append(more);
  return card;
}

function planned(input, label) {
  input.addEventListener('change', () => {
    plan[input.name] = input.value;
    for (const one of root.querySelectorAll('.estimated')) one.remove();  // they were for another plan
  });
  return make('label', {}, label, input);
}

function select(name, label, options) {
  const input = make('select', {name});
  input.append(...options.map(([key, text]) => new Option(text, key)));
  input.value = plan[name];
  return planned(input, label);
}

function number(name, label, low) {
  return planned(make('input', {type: 'number', name, min: low, step: 1, value: plan[name]}), label);
}

function showBackbones({backbones, words}) {
  const menu = select('backbone', words.methods_base, backbones.map(({value, label}) => [value, label]));
  menu.querySelector('select').addEventListener('change', changed);
  part('.base').replaceChildren(menu);
}

function showPlan(words) {
  const all = (name, keys) => keys.map((key) => [key, words[`methods_${name}_${key}`]]);
  part('.plan').replaceChildren(
    number('epochs', words.methods_epochs, 1),
    number('seed', words.methods_seed, 0),
    select('augmentation', words.methods_augmentation, all('augmentation', ['none', 'crop_flip', 'crop_flip_colour'])),
    select('class_weights', words.methods_weights, all('weights', ['none', 'balanced'])));
}

function show() {
  const value = props.value;
  if (!value) return;
  part('.working').textContent = value.working;
  part('.refused').textContent = value.refused;
  part('.refused').hidden = !value.refused;
  root.toggleAttribute('data-busy', Boolean(value.working));
  for (const one of root.querySelectorAll('.go button')) one.disabled = Boolean(value.working) || !(shown ?? value).ready;
  if (!value.items.length) return;
  const {words} = value, focus = root.contains(document.activeElement) ? document.activeElement : null;
  const at = focus?.closest('.item')?.dataset.key, place = at ? [...root.querySelectorAll(`.item[data-key="${at}"] :is(input, select, summary)`)].indexOf(focus) : -1;
  if (!shown) {
    for (const one of value.items) on[one.key] = one.on;
    showPlan(words);
    showBackbones(value);
  }
  if (value.plan && value.plan.training !== planOf) {
    const {training, ...fields} = value.plan;
    planOf = training;
    Object.assign(plan, fields);
    showPlan(words);
    showBackbones(value);
  }
  shown = value;
  part('h3').textContent = words.methods_title;
  part('.backbone').textContent = value.backbone;
  part('.items').replaceChildren(...value.items.map((one) => item(one, words)));
  if (place >= 0) root.querySelectorAll(`.item[data-key="${at}"] :is(input, select, summary)`)[place]?.focus({preventScroll: true});
  part('.start').textContent = words.methods_start;
  part('.estimate').textContent = words.methods_estimate;
  for (const one of root.querySelectorAll('.go button')) one.disabled = !value.ready;
  root.dataset.state = value.ready ? 'ready' : 'waiting';
  root.dataset.shown = Number(root.dataset.shown ?? 0) + 1;
  if (!value.asked && (plan.backbone || Object.keys(settings).length || Object.keys(rates).length)) changed();
}

part('.start').addEventListener('click', () => {
  part('.working').textContent = shown.words.methods_starting;
  ask('start');
});
part('.estimate').addEventListener('click', () => ask('estimate'));
watch('value', show);
show();
