// One view with its controls and its figure. Every control that settles asks Python; the browser draws and saves.

import {pushAddress, viewChanges, viewInAddress, writeAddress} from '../kit/address.js';
import {filled, make, setText} from '../kit/dom.js';
import {form} from '../kit/form.js';
import {FORMATS, newAside, showHead} from '../kit/frame.js';
import {offersPicture} from '../kit/pictures.js';
import {offerViews, previewList} from '../kit/previews.js';
import {labelled} from '../kit/punctuation.js';
import {onTheme, theme} from '../kit/theme.js';
import {drawing} from './figure_drawing.js';
import {numbersOf} from './csv_table.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-panel'), part = (selector) => root.querySelector(selector);
  let waiting = 0;
  let shown = null;  // the view on the screen; the component's value may be how far the next one is
  let asked = 0, pending = false;  // number of the latest question; whether its answer is still to come
  let marked = '', lookedAhead = '';  // view that is marked as chosen; run whose previews were asked for

  // A mark may say what it shows when it is pressed; a cell of a matrix of blocks and heads opens that head's map.
  const {draw, forget, picture, save: saveFigure} = drawing(part('.stage'), part('.figure'), ({customdata, data: {meta}}) => {
    if (meta?.view) choose(meta.view);
    if (meta?.settings) ask(shown.chosen, {...controls.settings(), ...meta.settings});
    if (!shown.opens || !customdata) return;
    trigger('open', {block: customdata[0], head: customdata[1]});
    const own = shown.views.find((view) => view.own);
    if (own) choose(own.key);
  });
  const aside = newAside(root, save, () => numbersOf(shown));
  offersPicture(root, picture);
  const controls = form(part('.controls'), {
    settled: () => ask(shown.chosen, controls.settings()), pending: () => pending, asked: () => asked,
  });
  const strip = previewList(choose);
  part('.below').append(strip.element);

  function ask(view, settings) {
    const slow = shown.views.find(({key}) => key === view)?.slow;
    asked += 1;
    idle();
    pending = true;
    waiting = setTimeout(() => {
      if (slow) showWork({text: shown.words.panel_working, share: null});
      else part('.working').hidden = false;
    }, 150);
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
    controls.forget();
    if (!shown.bare) showControls(shown);
    showViews(shown);
    tellAddress(shown);
    trigger('stop', {});
  });

  function choose(view) {
    if (view === marked) return;
    if (shown.room) pushAddress(viewChanges(view, {}));
    go(view, {});
  }

  // The room's own view needs no answer: it is beside the panel.
  function go(view, settings) {
    const {own} = shown.views.find(({key}) => key === view);
    showViews({...shown, chosen: view});
    if (!own) {
      ask(view, settings);
      return;
    }
    if (pending) trigger('stop', {});
    asked += 1;
    idle();
    shown = {...shown, chosen: view, settings: {}, bare: true};
    root.dataset.view = view;
  }

  // A panel of no room, such as those of a training, is not in the address.
  function tellAddress({chosen, settings}) {
    if (isHere()) writeAddress(viewChanges(chosen, settings));
  }

  const isHere = () => (viewInAddress().room || 'attention') === shown?.room;

  // An address that names no view is told the one on the screen; what it names is shown.
  function follow() {
    if (!shown || !isHere()) return;
    const {view, settings} = viewInAddress();
    const names = shown.views.some(({key}) => key === view), now = pending ? '' : shown.chosen;
    if (!names) tellAddress({...shown, chosen: marked});
    else if (view !== now || JSON.stringify(settings) !== JSON.stringify(shown.settings)) go(view, settings);
  }

  /** Whether the address has come to name another view since Python was asked what to show first. */
  function isLate({asked: number, chosen, views}) {
    const {view} = viewInAddress();
    return !number && isHere() && view !== chosen && views.some(({key, refused}) => key === view && !refused);
  }

  addEventListener('popstate', follow);
  document.addEventListener('vx-address', follow);

  // Small pictures of the other views are made once the person has a picture to look at.
  function lookAhead() {
    const {run, views} = shown;
    if (run === lookedAhead || !views.some(({preview, refused, slow}) => !preview && !refused && !slow)) return;
    lookedAhead = run;
    setTimeout(() => trigger('previews', {}), 600);
  }

  function takePreviews({run, previews}) {
    if (!shown || run !== shown.run) return;
    shown.views = shown.views.map((view) => ({...view, preview: view.preview ?? previews[view.key] ?? null}));
    showViews({...shown, chosen: marked});
  }

  function showViews({views, chosen, words}) {
    marked = chosen;
    const offer = {views, chosen, label: words.panel_views ?? '', choose};
    strip.show(offer);
    offerViews(root, offer);
  }

  function showControls({chosen, image, controls: fields, words}) {
    part('.asks h3').textContent = words.panel_settings;
    controls.show(fields, {image: image?.url, of: chosen});
  }

  function save(format) {
    const {csv} = shown, name = csv.name.replace(/\.csv$/, '');  // which says view, model and run
    if (format === 'csv') make('a', {href: csv.url, download: csv.name}).click();
    else saveFigure(format.slice(0, 3), {png2: 2, png4: 4}[format] ?? 1, name);
  }

  function showWords(value) {
    showHead(root, value);
    part('.figure').setAttribute('aria-label', `${value.question} ${value.reading}`.trim());
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

  // How far the map is to be trusted, and the way to the evidence.
  function showStanding({views, evidence, standing, words}) {
    const view = views.find(({key, refused}) => key === evidence && !refused), line = part('.standing');
    line.hidden = !view;
    setText(line.children[0], labelled(words.standing, ''));
    setText(line.children[1], standing);
    setText(line.children[2], view?.question ?? '');
    line.children[2].onclick = () => choose(evidence);
  }

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
    else if (await draw(value.figure)) {
      const drawn = String((Number(root.dataset.shown) || 0) + 1);
      Object.assign(root.dataset, {shown: drawn, drawn: value.chosen, theme: value.theme});
    }
  }

  function show() {
    const value = props.value;
    if (value?.asked && value.asked !== asked) return;  // the answer to an earlier question
    if (value?.work) showWork(value.work);
    if (Object.keys(value?.previews ?? {}).length) takePreviews(value);
    if (!value?.chosen) return;
    if (!value.asked && shown && value.run !== shown.run) asked += 1;  // what is still on its way is of the earlier run
    shown = value;
    idle();
    part('.working').textContent = value.words.panel_working;
    if (isLate(value)) return go(viewInAddress().view, viewInAddress().settings);
    showViews(value);
    showWords(value);
    aside.show(value, value.figure ? FORMATS : []);
    showStanding(value);
    showNext(value);
    tellAddress(value);
    if (value.bare) {
      begin(value);
      return;
    }
    showControls(value);
    // Of a setting that is refused the last good picture of the same view stays.
    root.toggleAttribute('data-kept', Boolean(value.refused) && root.dataset.drawn === value.chosen);
    Object.assign(root.dataset, {view: value.chosen, state: value.refused ? 'refused' : 'ready'});
    showFigure(value).then(lookAhead).catch((error) => console.warn('figure panel:', error));
    followTheme();
  }

  // Without a figure: the room shows its view by itself, or this one takes so long that it is asked for with `work`.
  function begin({views, chosen, settings}) {
    root.dataset.view = chosen;
    if (views.find(({key}) => key === chosen).own) lookAhead();
    else ask(chosen, settings);
  }

  // A figure is drawn in the colours of the page that asked for it.
  function followTheme() {
    if (shown?.figure && !shown.bare && shown.theme !== theme() && !pending) ask(shown.chosen, controls.settings());
  }

  onTheme(followTheme);
  watch('value', show);
  show();
  // What is sent while a tab is being opened can be lost: a panel that stays empty asks for its room's first view. Where
  // that came after all, and a person went on to another, the answer to this is an earlier question's.
  setTimeout(() => {
    if (shown) return;
    asked += 1;
    trigger('begin', {asked});
  }, 3000);
}
