// One view with its controls and its figure. Every control that settles asks Python; the browser draws and saves.

const root = element.querySelector('.vx-panel'), part = (selector) => root.querySelector(selector);
const stage = part('.stage'), figure = part('.figure'), controls = part('.controls');
let drawn = null, figureUrl = null, working = 0;

const theme = () => (document.body.classList.contains('dark') ? 'dark' : 'light');

function settings() {
  return Object.fromEntries([...controls.querySelectorAll('[name]')].map((input) => [input.name, input.value]));
}

function ask(view, given) {
  clearTimeout(working);
  working = setTimeout(() => { part('.working').hidden = false; }, 150);
  trigger('ask', {view, settings: given, theme: theme()});
}

function field(control) {
  const label = document.createElement('label'), name = document.createElement('span');
  name.textContent = control.label;
  let input;
  if (control.options.length) {
    input = document.createElement('select');
    input.append(...control.options.map((option) => new Option(option.label, option.value)));
  } else {
    input = document.createElement('input');
    input.type = control.low === null ? 'text' : 'range';
    if (control.low !== null) Object.assign(input, {min: control.low, max: control.high, step: control.step});
  }
  input.name = control.name;
  input.value = control.value;
  label.append(name, input);
  if (input.type === 'range') {
    const output = document.createElement('output');
    output.textContent = input.value;
    input.addEventListener('input', () => { output.textContent = input.value; });
    label.append(output);
  }
  input.addEventListener('change', () => ask(props.value.chosen, settings()));
  return label;
}

function showControls(value) {
  const shape = JSON.stringify(value.controls.map((control) => ({...control, value: ''})));
  if (controls.dataset.shape === `${value.chosen} ${shape}`) {
    for (const control of value.controls) {
      const input = controls.querySelector(`[name="${CSS.escape(control.name)}"]`);
      if (document.activeElement !== input) input.value = control.value;
    }
    return;
  }
  controls.dataset.shape = `${value.chosen} ${shape}`;
  controls.replaceChildren(...value.controls.map(field));
}

function showViews(value) {
  part('.views').replaceChildren(...value.views.map((view) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.role = 'tab';
    button.dataset.view = view.key;
    button.textContent = view.title;
    button.setAttribute('aria-selected', String(view.key === value.chosen));
    button.addEventListener('click', () => ask(view.key, {}));
    return button;
  }));
  part('.views').setAttribute('aria-label', value.words.panel_views ?? '');
}

function library(url) {
  window.vxPlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => { window.vxPlotly = null; reject(new Error('plotly.js did not load')); };
    document.head.append(script);
  });
  return window.vxPlotly;
}

// Figures are laid out in pixels for a slide; a narrower page shows them smaller rather than cut.
function scale() {
  if (!drawn) return;
  const factor = Math.min(1, stage.clientWidth / drawn.layout.width);
  figure.style.transform = `scale(${factor})`;
  stage.style.height = `${Math.ceil(drawn.layout.height * factor)}px`;
}

async function draw(value) {
  if (!value.figure || value.figure.url === figureUrl) return;
  const wanted = value.figure.url;
  const [Plotly, next] = await Promise.all([library(value.library.url), fetch(wanted).then((answer) => answer.json())]);
  if (props.value.figure?.url !== wanted) return;
  figureUrl = wanted;
  drawn = next;
  figure.style.width = `${next.layout.width}px`;
  await Plotly.react(figure, next.data, next.layout, {displayModeBar: false, responsive: false});
  scale();
  root.dataset.shown = (Number(root.dataset.shown) || 0) + 1;
}

function showSaves(value) {
  const formats = [['PNG 2×', 'png', 2], ['PNG 4×', 'png', 4], ['SVG', 'svg', 1]];
  const buttons = formats.map(([label, format, factor]) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.addEventListener('click', () => window.Plotly?.downloadImage(figure, {
      format, scale: factor, width: drawn.layout.width, height: drawn.layout.height, filename: value.chosen,
    }));
    return button;
  });
  const csv = document.createElement('button');
  csv.type = 'button';
  csv.textContent = 'CSV';
  csv.addEventListener('click', () => {
    const link = document.createElement('a');
    Object.assign(link, {href: value.csv.url, download: `${value.chosen}.csv`});
    link.click();
  });
  part('.save').replaceChildren(...(value.figure ? [...buttons, csv] : []));
  part('.save').setAttribute('aria-label', value.words.save ?? '');
}

function show() {
  const value = props.value;
  clearTimeout(working);
  part('.working').hidden = true;
  if (!value?.chosen) return;
  part('.working').textContent = value.words.panel_working;
  showViews(value);
  showControls(value);
  part('.question').textContent = value.question;
  part('.misleads-label').textContent = `${value.words.misleads}:`;
  part('.misleads').textContent = value.misleads;
  part('.paper-label').textContent = value.paper ? `${value.words.paper}:` : '';
  part('.paper').textContent = value.paper;
  part('.paper').href = value.paper_url;
  part('.refused').textContent = value.refused;
  part('.refused').hidden = !value.refused;
  stage.hidden = Boolean(value.refused);
  part('summary').textContent = value.words.python_lines;
  part('.python').textContent = value.python;
  showSaves(value);
  Object.assign(root.dataset, {view: value.chosen, state: value.refused ? 'refused' : 'ready'});
  draw(value).catch((error) => console.warn('view panel:', error));
}
new ResizeObserver(scale).observe(stage);
watch('value', show);
show();
