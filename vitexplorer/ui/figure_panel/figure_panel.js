// One view with its controls and its figure. Every control that settles asks Python; the browser draws and saves.

const root = element.querySelector('.vx-panel'), part = (selector) => root.querySelector(selector);
const stage = part('.stage'), figure = part('.figure'), controls = part('.controls');
let drawn = null, figureUrl = null, waiting = 0;
let shown = null;  // the view on the screen; the component's value may be how far the next one is
let asked = 0, pending = false;  // number of the latest question; whether its answer is still to come

const theme = () => (document.body.classList.contains('dark') ? 'dark' : 'light');

function ask(view, given) {
  const slow = shown.views.find(({key}) => key === view)?.slow;
  asked += 1;
  idle();
  pending = true;
  if (slow) showWork({text: shown.words.panel_working, share: null});
  else waiting = setTimeout(() => { part('.working').hidden = false; }, 150);
  trigger(slow ? 'work' : 'ask', {view, settings: given, theme: theme(), asked});
}

// A cell of a matrix of blocks and heads opens that head's map.
function open({points: [{customdata}]}) {
  if (shown.opens && customdata) trigger('open', {block: customdata[0], head: customdata[1]});
}

function idle() {
  pending = false;
  clearTimeout(waiting);
  part('.working').hidden = true;
  part('.work').hidden = true;
}

function showWork({text, share}) {
  part('.work').hidden = false;
  part('.what').textContent = text;
  part('.stop').textContent = shown.words.panel_stop;
  const bar = part('progress');
  if (share === null) bar.removeAttribute('value');
  else bar.value = share;
}

// The earlier view stays, with the settings it was made with; what still comes of the stopped one is not looked at.
part('.stop').addEventListener('click', () => {
  asked += 1;
  idle();
  controls.dataset.shape = '';
  showControls(shown);
  trigger('stop', {});
});

function showViews(value) {
  part('.views').replaceChildren(...value.views.map((view) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.role = 'tab';
    button.dataset.view = view.key;
    if (view.slow) button.dataset.slow = '';
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

// Figures are laid out in pixels for a slide; a narrower page shows them smaller, a phone as small as can be read.
const LEAST_SCALE = 0.5;

function scale() {
  if (!drawn) return;
  const factor = Math.min(1, Math.max(LEAST_SCALE, stage.clientWidth / drawn.layout.width));
  figure.style.transform = `scale(${factor})`;
  stage.style.height = `${Math.ceil(drawn.layout.height * factor)}px`;
}

async function draw(value) {
  if (!value.figure || value.figure.url === figureUrl) return;
  const wanted = value.figure.url;
  const [Plotly, next] = await Promise.all([library(value.library.url), fetch(wanted).then((answer) => answer.json())]);
  if (shown.figure?.url !== wanted) return;
  figureUrl = wanted;
  drawn = next;
  figure.style.width = `${next.layout.width}px`;
  const first = !figure.data;
  await Plotly.react(figure, next.data, next.layout, {displayModeBar: false, responsive: false});
  if (first) figure.on('plotly_click', open);
  scale();
  Object.assign(root.dataset, {shown: (Number(root.dataset.shown) || 0) + 1, drawn: value.chosen, theme: value.theme});
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
  if (value?.asked && value.asked !== asked) return;  // the answer to an earlier question
  if (value?.work) showWork(value.work);
  if (!value?.chosen) return;
  shown = value;
  idle();
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
  part('details').hidden = !value.python;
  showSaves(value);
  Object.assign(root.dataset, {view: value.chosen, state: value.refused ? 'refused' : 'ready'});
  draw(value).catch((error) => console.warn('view panel:', error));
  followTheme();
}

// A figure is drawn in the colours of the page that asked for it.
function followTheme() {
  if (shown?.figure && shown.theme !== theme() && !pending) ask(shown.chosen, settings());
}

new MutationObserver(followTheme).observe(document.body, {attributes: true, attributeFilter: ['class']});
new ResizeObserver(scale).observe(stage);
watch('value', show);
show();
// What is sent while a tab is being opened can be lost: a panel that stays empty asks for its room's first view.
setTimeout(() => { if (!shown) trigger('begin', {}); }, 3000);
