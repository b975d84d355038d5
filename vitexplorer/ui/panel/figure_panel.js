// Panel of one view with its controls and its figure. Every settled control asks Python; the browser draws and saves.

import {form} from '../controls/form.js';
import {
  chosenInAddress,
  enterRoom,
  goTo,
  inAddress,
  pushAddress,
  viewChanges,
  viewInAddress,
  writeAddress,
} from '../kit/address.js';
import {make, setText, showSentence} from '../kit/dom.js';
import {labelled} from '../kit/formats.js';
import {FORMATS, newAside, showHead} from '../kit/frame.js';
import {cameFrom} from '../kit/notices.js';
import {offerViews, previewList} from '../kit/previews.js';
import {offersPicture} from '../kit/saving.js';
import {onTheme, theme} from '../kit/theme.js';
import {numbersOf} from './csv_table.js';
import {drawing} from './figure_drawing.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  let waiting = 0;
  let current = null; // data of the view on the screen; the component's value may be the progress of the next one
  let asked = 0; // number of the latest question
  let pending = false; // true while its answer is missing
  let marked = ''; // view that is marked as chosen
  let lookedAhead = ''; // run whose previews were requested
  let drawnRun = ''; // run of the latest figure

  // A pressed mark may name a view or settings; a cell of a matrix of blocks and heads opens that head's map.
  const figure = drawing(part('.stage'), part('.figure'), ({customdata, data: {meta}}) => {
    if (meta?.view) choose(meta.view);
    if (meta?.settings) ask(current.chosen, {...controls.settings(), ...meta.settings});
    if (!current.opens || !customdata) return;
    trigger('open', {block: customdata[0], head: customdata[1]});
    const own = current.views.find((view) => view.own);
    if (own) choose(own.key);
  });
  const aside = newAside(root, save, () => numbersOf(current));
  part('.more').open = matchMedia('(min-width: 761px)').matches; // where it stands beside the picture
  offersPicture(root, figure.picture);
  const controls = form(part('.controls'), {
    settled: (name) => {
      const settings = controls.settings();
      if (isHere() && name in chosenInAddress()) writeAddress({[name]: settings[name]});
      ask(current.chosen, settings);
    },
    pending: () => pending,
    asked: () => asked,
  });
  const strip = previewList(choose);
  part('.below').append(strip.element);

  /** `chosen` is what the view takes from other rooms where `settings` leave it open. */
  function ask(view, settings, chosen = {}) {
    const slow = current.views.find(({key}) => key === view)?.slow || Number(settings.sharpen) > 1;
    asked += 1;
    idle();
    pending = true;
    waiting = setTimeout(() => {
      if (slow) showWork({text: current.words.panel_working, share: null});
      else part('.working').hidden = false;
    }, 150);
    const question = {view, settings, theme: theme(), asked, ...chosen};
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
    part('.stop').textContent = current.words.panel_stop;
    const bar = part('progress');
    if (share === null) bar.removeAttribute('value');
    else bar.value = share;
  }

  // The earlier view stays with its settings; later answers to the stopped question are ignored.
  part('.stop').addEventListener('click', () => {
    asked += 1;
    idle();
    controls.forget();
    if (!current.bare) showControls(current);
    showViews(current);
    tellAddress(current);
    trigger('stop', {});
  });

  function choose(view) {
    if (view === marked) return;
    if (current.room) pushAddress(viewChanges(view, {}));
    const {block, ...others} = chosenInAddress();
    go(view, {}, {...others, block: block ? Number(block) : null});
  }

  // The room's own view needs no answer: it stands beside the panel.
  function go(view, settings, chosen = {}) {
    const {own} = current.views.find(({key}) => key === view);
    showViews({...current, chosen: view});
    if (!own) {
      ask(view, settings, chosen);
      return;
    }
    if (pending) trigger('stop', {});
    asked += 1;
    idle();
    current = {...current, chosen: view, settings: {}, bare: true};
    root.dataset.view = view;
  }

  // Panels outside a room's views, such as those of a training, are not in the address.
  function tellAddress({chosen, settings}) {
    if (isHere()) writeAddress(viewChanges(chosen, settings));
  }

  const isHere = () => (viewInAddress().room || 'attention') === current?.room;

  // Shows the view of the address; an address without a view gets the one on the screen.
  function follow() {
    if (!current || !isHere()) return;
    const {view, settings} = viewInAddress();
    const names = current.views.some(({key}) => key === view);
    const now = pending ? '' : current.chosen;
    if (!names) tellAddress({...current, chosen: marked});
    else if (view !== now || JSON.stringify(settings) !== JSON.stringify(current.settings)) go(view, settings);
  }

  /** Returns true where the address has changed to another view since Python chose the first one. */
  function isLate({asked: number, chosen, views}) {
    const {view} = viewInAddress();
    return !number && isHere() && view !== chosen && views.some(({key, refused}) => key === view && !refused);
  }

  addEventListener('popstate', follow);
  document.addEventListener('vx-address', follow);

  // Requests small pictures of the other views once the first figure is on the screen.
  function lookAhead() {
    const {run, views} = current;
    if (run === lookedAhead || !views.some(({preview, refused, slow}) => !preview && !refused && !slow)) return;
    lookedAhead = run;
    setTimeout(() => trigger('previews', {}), 600);
  }

  function takePreviews({run, previews}) {
    if (!current || run !== current.run) return;
    current.views = current.views.map((view) => ({...view, preview: view.preview ?? previews[view.key] ?? null}));
    showViews({...current, chosen: marked});
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
    const {csv} = current;
    const name = csv.name.replace(/\.csv$/, ''); // with view, model and run
    if (format === 'csv') make('a', {href: csv.url, download: csv.name}).click();
    else figure.save(format, name);
  }

  /** Shows the picture alone, where there is no figure of it. */
  function showSeen({image, words}) {
    if (image) Object.assign(part('.seen'), {src: image.url, alt: words.image});
  }

  function showWords(value) {
    showHead(root, value);
    part('.figure').setAttribute('aria-label', `${value.question} ${value.reading}`.trim());
    showSentence(part('.refused'), value.elsewhere ? '' : value.refused);
    if (value.refused) showSeen(value);
    part('.elsewhere').hidden = !value.elsewhere;
    setText(part('.elsewhere span'), value.elsewhere?.reason ?? '');
    setText(part('.elsewhere button'), value.elsewhere?.show ?? '');
  }

  // Changes to the model that the view is shown with, with a notice that leads back.
  part('.elsewhere button').addEventListener('click', () => {
    const {chosen: view, elsewhere, words} = current;
    const former = Object.fromEntries(Object.keys(elsewhere.changes).map((name) => [name, inAddress(name)]));
    goTo({view, ...elsewhere.changes});
    cameFrom(elsewhere.notice, {board_back: elsewhere.back, board_close: words.notice_close}, () =>
      goTo({view, ...former}),
    );
  });

  // Shows the evidence on how far to trust the map, with a link to its view.
  function showStanding({views, evidence, standing, words}) {
    const view = views.find(({key, refused}) => key === evidence && !refused);
    const line = part('.standing');
    line.hidden = !view;
    setText(line.children[0], labelled(words.standing, ''));
    setText(line.children[1], standing);
    setText(line.children[2], view?.question ?? '');
    line.children[2].onclick = () => choose(evidence);
  }

  // Button to the next view that this model has, and after the last view to the next room.
  function showNext({views, chosen, words, next_room: room}) {
    const at = views.findIndex(({key}) => key === chosen);
    const view = views.slice(at + 1).find(({refused}) => !refused);
    const next = part('.next');
    next.hidden = !view && !room;
    next.replaceChildren(
      make('span', view?.question || words.next_room || '', view ? make('small', view.title) : null),
    );
    next.onclick = () => {
      if (view) choose(view.key);
      else enterRoom(room);
    };
  }

  async function showFigure(value) {
    if (!value.figure) figure.forget();
    else if (await figure.draw(value.figure)) {
      const drawn = String((Number(root.dataset.shown) || 0) + 1);
      Object.assign(root.dataset, {shown: drawn, drawn: value.chosen, theme: value.theme});
      drawnRun = value.run;
    }
  }

  function show() {
    const value = props.value;
    if (value?.asked && value.asked !== asked) return; // the answer to an earlier question
    if (value?.work) showWork(value.work);
    if (Object.keys(value?.previews ?? {}).length) takePreviews(value);
    if (!value?.chosen) return;
    // answers still to come belong to the earlier run
    if (!value.asked && current && value.run !== current.run) asked += 1;
    current = value;
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
    // The last good figure of the same view stays where a setting is refused, otherwise the picture is shown.
    const isDrawn = root.dataset.drawn === value.chosen && drawnRun === value.run;
    root.toggleAttribute('data-kept', Boolean(value.refused) && isDrawn);
    Object.assign(root.dataset, {view: value.chosen, state: value.refused ? 'refused' : 'ready'});
    showFigure(value)
      .then(lookAhead)
      .catch((error) => console.warn('figure panel:', error));
    followTheme();
  }

  // Without a figure: the room shows the view in its own way, or the view runs the model and is requested with `work`.
  function begin({views, chosen, settings, image, words}) {
    root.dataset.view = chosen;
    showSeen({image, words});
    if (views.find(({key}) => key === chosen).own) lookAhead();
    else ask(chosen, settings);
  }

  // Requests the figure again after a change of the page's theme.
  function followTheme() {
    if (current?.figure && !current.bare && current.theme !== theme() && !pending)
      ask(current.chosen, controls.settings());
  }

  onTheme(followTheme);
  // Values that are sent while a tab opens can be lost: a panel that stays empty asks for its room's first view. If the
  // value arrives after all and a person goes on to another view, the answer to this event is outdated and ignored.
  setTimeout(() => {
    if (current) return;
    asked += 1;
    trigger('begin', {asked});
  }, 3000);
  return show;
}
