// One view with its controls and its figure. Every control that settles asks Python; the browser draws and saves.

import {make} from '../kit/dom.js';
import {form, missing, shape} from '../kit/form.js';
import {onTheme, theme} from '../kit/theme.js';
import {drawing} from './drawing.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-panel'), part = (selector) => root.querySelector(selector);
  let waiting = 0;
  let shown = null;  // the view on the screen; the component's value may be how far the next one is
  let asked = 0, pending = false;  // number of the latest question; whether its answer is still to come
  let controls = null, shapeOfControls = '';

  // A cell of a matrix of blocks and heads opens that head's map.
  const {draw, forget, save} = drawing(part('.stage'), part('.figure'), ({customdata}) => {
    if (shown.opens && customdata) trigger('open', {block: customdata[0], head: customdata[1]});
  });

  function ask(view, settings) {
    const slow = shown.views.find(({key}) => key === view)?.slow;
    asked += 1;
    idle();
    pending = true;
    if (slow) showWork({text: shown.words.panel_working, share: null});
    else waiting = setTimeout(() => { part('.working').hidden = false; }, 150);
    const question = {view, settings, theme: theme(), asked};
    if (slow) trigger('work', question);
    else trigger('ask', question);
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
    shapeOfControls = '';
    showControls(shown);
    trigger('stop', {});
  });

  function showViews({views, chosen, words}) {
    part('.views').replaceChildren(...views.map(({key, title, slow}) => make('button', {
      type: 'button', role: 'tab', textContent: title, ariaSelected: String(key === chosen),
      dataset: {view: key, ...(slow ? {slow: ''} : {})}, onclick: () => ask(key, {}),
    })));
    part('.views').setAttribute('aria-label', words.panel_views ?? '');
  }

  // The controls are made anew when they are others; an answer brings them to what its figure was made with.
  function showControls({chosen, image, controls: fields}) {
    const now = JSON.stringify([chosen, image?.url, shape(fields)]);
    if (shapeOfControls === now) {
      controls.answer(fields);
      return;
    }
    shapeOfControls = now;
    controls = form(fields, {
      image: image?.url,
      settled: () => ask(shown.chosen, controls.settings()),
      pending: () => pending,
      asked: () => asked,
    });
    part('.controls').style.setProperty('--others', String(fields.length - 1));
    part('.controls').replaceChildren(...controls.elements);
  }

  // Pictures are called as the table is, whose name says view, model and run.
  const named = ({csv}) => csv.orig_name.replace(/\.csv$/, '');

  function saveCsv({csv}) {
    make('a', {href: csv.url, download: csv.orig_name}).click();
  }

  function showSaves(value) {
    const button = (textContent, onclick) => make('button', {type: 'button', textContent, onclick});
    const formats = [['PNG 2×', 'png', 2], ['PNG 4×', 'png', 4], ['SVG', 'svg', 1]];
    const buttons = formats.map(([label, format, factor]) => button(label, () => save(format, factor, named(value))));
    part('.save').replaceChildren(...(value.figure ? [...buttons, button('CSV', () => saveCsv(value))] : []));
    part('.save').setAttribute('aria-label', value.words.save ?? '');
  }

  function showWords(value) {
    part('.question').textContent = value.question;
    part('.misleads-label').textContent = `${value.words.misleads}:`;
    part('.misleads').textContent = value.misleads;
    part('.paper-label').textContent = value.paper ? `${value.words.paper}:` : '';
    part('.paper').textContent = value.paper;
    part('.paper').href = value.paper_url;
    part('.refused').textContent = value.refused;
    part('.refused').hidden = !value.refused;
    part('summary').textContent = value.words.python_lines;
    part('.python').textContent = value.python;
    part('details').hidden = !value.python;
  }

  async function showFigure(value) {
    if (!value.figure) forget();
    else if (await draw(value.figure, value.library)) {
      const drawn = String((Number(root.dataset.shown) || 0) + 1);
      Object.assign(root.dataset, {shown: drawn, drawn: value.chosen, theme: value.theme});
    }
  }

  function show() {
    const value = props.value;
    if (value?.asked && value.asked !== asked) return;  // the answer to an earlier question
    if (value?.work) showWork(value.work);
    if (!value?.chosen) return;
    const kinds = missing(value.controls);
    if (kinds) {
      kinds.then(show);
      return;
    }
    shown = value;
    idle();
    part('.working').textContent = value.words.panel_working;
    showViews(value);
    showControls(value);
    showWords(value);
    part('.stage').hidden = Boolean(value.refused);
    showSaves(value);
    Object.assign(root.dataset, {view: value.chosen, state: value.refused ? 'refused' : 'ready'});
    showFigure(value).catch((error) => console.warn('figure panel:', error));
    followTheme();
  }

  // A figure is drawn in the colours of the page that asked for it.
  function followTheme() {
    if (shown?.figure && shown.theme !== theme() && !pending) ask(shown.chosen, controls.settings());
  }

  onTheme(followTheme);
  watch('value', show);
  show();
  // What is sent while a tab is being opened can be lost: a panel that stays empty asks for its room's first view.
  setTimeout(() => { if (!shown) trigger('begin', {}); }, 3000);
}
