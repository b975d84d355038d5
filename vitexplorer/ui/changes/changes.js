// Interventions as switches. Whatever settles sends all changes as one text; Python answers with the changed run.

const root = element.querySelector('.vx-changes'), part = (selector) => root.querySelector(selector);
let shape = '', on = {}, settings = {}, waiting = 0;
const image = new Image();

const filled = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const make = (tag, options = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), options);
  node.append(...children);
  return node;
};
const listed = (text) => new Set(text.split('+').filter(Boolean));

function text() {
  return props.value.items.filter(({key}) => on[key]).map(({key, controls}) => {
    const said = controls.map(({name}) => `${name}=${settings[key][name]}`).join(',');
    return said ? `${key}:${said}` : key;
  }).join(';');
}

function choose(changes) {
  clearTimeout(waiting);
  waiting = setTimeout(() => { part('.answer').textContent = props.value.words.panel_working; }, 150);
  window.vxAddress({change: changes || 'nothing'});
  trigger('choose', {text: changes});
}

function set(key, name, value) {
  settings[key][name] = value;
  choose(text());
}

function choice(key, control) {
  const input = make('select');
  input.append(...control.options.map((option) => new Option(option.label, option.value)));
  input.value = settings[key][control.name];
  input.addEventListener('change', () => set(key, control.name, input.value));
  return make('label', {}, control.label, input);
}

function number(key, control) {
  const input = make('input', {type: 'range', min: control.low, max: control.high, step: control.step});
  input.value = settings[key][control.name];
  const output = make('output', {textContent: input.value});
  input.addEventListener('input', () => { output.textContent = input.value; });
  input.addEventListener('change', () => set(key, control.name, input.value));
  return make('label', {}, control.label, input, output);
}

// ------------------------------------------------------------------------------------------ heads

function heads(key, control) {
  const {heads: counts, words} = props.value, off = listed(settings[key][control.name]);
  const most = Math.max(...counts);
  const grid = make('div', {className: 'heads', role: 'group', ariaLabel: control.label});
  grid.style.gridTemplateColumns = `auto repeat(${most}, 26px)`;
  const toggle = (names, state) => {
    for (const name of names) off[state ? 'add' : 'delete'](name);
    set(key, control.name, [...off].join('+'));
  };
  counts.forEach((count, block) => {
    const names = Array.from({length: count}, (_, head) => `${block}.${head}`);
    const all = names.every((name) => off.has(name));
    const whole = make('button', {type: 'button', className: 'whole', textContent: block, title: `${words.block} ${block}`});
    whole.setAttribute('aria-label', `${words.block} ${block}`);
    whole.addEventListener('click', () => toggle(names, !all));
    grid.append(whole);
    for (let head = 0; head < most; head += 1) {
      if (head >= count) { grid.append(make('span')); continue; }
      const button = make('button', {type: 'button', textContent: head});
      const name = filled(words.changes_one_head, {block, head});
      button.title = name;
      button.setAttribute('aria-label', name);
      button.setAttribute('aria-pressed', String(off.has(names[head])));
      button.addEventListener('click', () => toggle([names[head]], !off.has(names[head])));
      grid.append(button);
    }
  });
  return make('div', {className: 'picker'}, grid, make('p', {className: 'help', textContent: words.changes_heads_help}));
}

// ------------------------------------------------------------------------------------------ patches

function patches(key, control) {
  const {rows, cols, cell, words} = props.value, chosen = listed(settings[key][control.name]);
  const board = make('canvas', {tabIndex: 0, role: 'img'}), pen = board.getContext('2d');
  let at = null, painting = null;
  const paint = () => {
    const width = 380, height = Math.round(width * (image.naturalHeight || 1) / (image.naturalWidth || 1));
    Object.assign(board, {width, height});
    if (image.naturalWidth) pen.drawImage(image, 0, 0, width, height);
    const [tall, wide] = [cell[0] * height, cell[1] * width];
    pen.strokeStyle = 'rgba(255,255,255,.35)';
    for (let row = 0; row < rows; row += 1) for (let col = 0; col < cols; col += 1) {
      const box = [col * wide, row * tall, wide, tall];
      if (chosen.has(`${row}.${col}`)) {
        pen.fillStyle = 'rgba(159,18,57,.72)';
        pen.fillRect(...box);
      }
      pen.strokeRect(...box);
    }
    if (at) {
      pen.strokeStyle = '#fff';
      pen.lineWidth = 4;
      pen.strokeRect(at[1] * wide, at[0] * tall, wide, tall);
      pen.lineWidth = 1;
    }
    board.setAttribute('aria-label', `${control.label}: ${[...chosen].join(', ')}`);
  };
  const cellOf = (event) => {
    const box = board.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / box.height / cell[0]);
    const col = Math.floor((event.clientX - box.left) / box.width / cell[1]);
    return row >= 0 && row < rows && col >= 0 && col < cols ? `${row}.${col}` : null;
  };
  const mark = (name, state) => { if (name) chosen[state ? 'add' : 'delete'](name); paint(); };
  const settle = () => set(key, control.name, [...chosen].join('+'));
  board.addEventListener('pointerdown', (event) => {
    const name = cellOf(event);
    painting = !chosen.has(name);
    board.setPointerCapture(event.pointerId);
    mark(name, painting);
  });
  board.addEventListener('pointermove', (event) => { if (painting !== null) mark(cellOf(event), painting); });
  for (const kind of ['pointerup', 'pointercancel']) {
    board.addEventListener(kind, () => { if (painting !== null) settle(); painting = null; });
  }
  board.addEventListener('keydown', (event) => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!step && event.key !== ' ') return;
    event.preventDefault();
    at ??= [0, 0];
    if (step) at = [Math.min(rows - 1, Math.max(0, at[0] + step[0])), Math.min(cols - 1, Math.max(0, at[1] + step[1]))];
    const name = at.join('.');
    if (event.key === ' ') { mark(name, !chosen.has(name)); settle(); }
    paint();
  });
  const clear = make('button', {type: 'button', textContent: words.changes_clear});
  clear.addEventListener('click', () => { chosen.clear(); paint(); settle(); });
  image.addEventListener('load', paint);
  paint();
  return make('div', {className: 'picker'}, board, make('p', {className: 'help', textContent: words.changes_patches_help}), clear);
}

// ------------------------------------------------------------------------------------------ all of it

const KINDS = {choice, number, heads, patches};

function item(data) {
  const box = make('input', {type: 'checkbox', checked: data.on, disabled: Boolean(data.refused)});
  box.addEventListener('change', () => { on[data.key] = box.checked; choose(text()); });
  const wide = data.controls.some(({kind}) => kind === 'heads' || kind === 'patches');
  const card = make('div', {className: `item${data.on ? ' on' : ''}${wide ? ' wide' : ''}`},
    make('label', {className: 'head'}, box, data.title),
    make('p', {className: 'why', textContent: data.refused || (data.on ? data.misleads : data.question)}));
  card.dataset.key = data.key;
  if (data.on) card.append(make('div', {className: 'controls'}, ...data.controls.map((one) => KINDS[one.kind](data.key, one))));
  return card;
}

function show() {
  const value = props.value;
  if (!value?.items?.length) return;
  clearTimeout(waiting);
  on = Object.fromEntries(value.items.map((one) => [one.key, one.on]));
  settings = Object.fromEntries(value.items.map(({key, controls}) => [
    key, Object.fromEntries(controls.map(({name, value: given}) => [name, given])),
  ]));
  if (value.image && image.src !== new URL(value.image.url, location.href).href) image.src = value.image.url;
  part('.examples').setAttribute('aria-label', value.words.changes_examples);
  part('.examples').replaceChildren(make('span', {textContent: value.words.changes_choose}), ...value.examples.map((one) => {
    const button = make('button', {type: 'button', textContent: one.label});
    button.setAttribute('aria-pressed', String(one.text === value.text));
    button.addEventListener('click', () => choose(one.text));
    return button;
  }));
  const now = JSON.stringify([value.items, value.image?.url]);
  if (now !== shape) {
    const focused = document.activeElement?.closest?.('.item')?.dataset.key;
    part('.items').replaceChildren(...value.items.map(item));
    if (focused) part(`.item[data-key="${focused}"] input`)?.focus({preventScroll: true});
    shape = now;
  }
  part('.answer').textContent = value.refused || value.answer;
  part('.answer').classList.toggle('refused', Boolean(value.refused));
  Object.assign(root.dataset, {state: value.refused ? 'refused' : 'ready', text: value.text});
}
watch('value', show);
show();
