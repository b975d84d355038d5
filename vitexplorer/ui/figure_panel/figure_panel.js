// One view with its controls and its figure. Every control that settles asks Python; the browser draws and saves.

import {writeAddress} from '../kit/address.js';
import {filled, make, setText} from '../kit/dom.js';
import {form, missing, shape} from '../kit/form.js';
import {offersPicture} from '../kit/pictures.js';
import {offerViews, previewList} from '../kit/previews.js';
import {onTheme, theme} from '../kit/theme.js';
import {drawing} from './drawing.js';
import {taking} from './taking.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-panel'), part = (selector) => root.querySelector(selector);
  let waiting = 0;
  let shown = null;  // the view on the screen; the component's value may be how far the next one is
  let asked = 0, pending = false;  // number of the latest question; whether its answer is still to come
  let controls = null, shapeOfControls = '';

  // A cell of a matrix of blocks and heads opens that head's map.
  const {draw, forget, picture, save} = drawing(part('.stage'), part('.figure'), ({customdata}) => {
    if (shown.opens && customdata) trigger('open', {block: customdata[0], head: customdata[1]});
  });
  const take = taking(part('.take'), save);
  offersPicture(root, picture);
  const strip = previewList(choose);
  part('.below').append(strip.element);

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
    showViews(shown);
    trigger('stop', {});
  });

  function choose(view) {
    if (view === shown.chosen && !pending) return;
    showViews({...shown, chosen: view});
    ask(view, {});
  }

  function showViews({views, chosen, words}) {
    const offer = {views, chosen, label: words.panel_views ?? '', choose};
    strip.show(offer);
    offerViews(root, offer);
  }

  // The controls are made anew when they are others; an answer brings them to what its figure was made with.
  function showControls({chosen, image, controls: fields, words}) {
    const now = JSON.stringify([chosen, image?.url, shape(fields)]);
    part('.asks h3').textContent = words.panel_settings;
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
    part('.controls').replaceChildren(...controls.elements);
  }

  function showWords(value) {
    setText(part('.question'), value.question);
    setText(part('.reading'), value.reading ?? '');
    setText(part('.misleads b'), `${value.words.misleads}:`);
    setText(part('.misleads span'), value.misleads);
    setText(part('.misleads a'), value.paper);
    part('.misleads a').href = value.paper_url;
    setText(part('.why'), value.refused);
    part('.refused').hidden = !value.refused;
    setText(part('.elsewhere'), filled(value.words.panel_elsewhere, {model: value.elsewhere}));
    part('.elsewhere').hidden = !value.elsewhere;
  }

  // Another model is another page: what depends on the model in the address begins anew.
  part('.elsewhere').addEventListener('click', () => {
    writeAddress({model: shown.elsewhere, view: shown.chosen, weights: '', block: '', head: '', query: ''});
    location.reload();
  });

  // What a lecture looks at next: the next view that this model has, and after the last one the next room.
  function showNext({views, chosen, words, next_room: room}) {
    const at = views.findIndex(({key}) => key === chosen), view = views.slice(at + 1).find(({refused}) => !refused);
    const next = part('.next');
    next.hidden = !view && !room;
    next.replaceChildren(make('span', {}, view?.question || words.next_room || '', ...(view ? [make('small', {textContent: view.title})] : [])));
    next.onclick = () => {
      if (view) choose(view.key);
      else next.dispatchEvent(new CustomEvent('vx-room', {bubbles: true, detail: {room}}));
    };
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
    showNext(value);
    take.show(value);
    // Of a setting that is refused the last good picture of the same view stays.
    root.toggleAttribute('data-kept', Boolean(value.refused) && root.dataset.drawn === value.chosen);
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
