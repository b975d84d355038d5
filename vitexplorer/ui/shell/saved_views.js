// Kept views: a lecture is a list of links. It stays in this browser; presenter keys step through it; it goes home as
// one small file, or as a page that needs no server. Back and forward over an image or a model lead here, too.

import {linkOpened} from '../kit/address.js';
import {chip} from './chip.js';
import {filled, make, refill, setText} from '../kit/dom.js';
import {asLookedAt, lecturePage, read, shown, written} from './saved_list.js';
import {stagePicture} from '../kit/pictures.js';
import {inLecture} from './lecture.js';

const STORE = 'vx-kept';
const TURNS = {PageDown: 1, PageUp: -1};

function remembered() {
  try { return JSON.parse(localStorage.getItem(STORE) ?? '[]'); } catch { return []; }
}

/** Without their pictures where there is no room for them, and for this page alone where nothing may be kept. */
function remember(views) {
  for (const some of [views, views.map(({title, query}) => ({title, query}))]) {
    try { localStorage.setItem(STORE, JSON.stringify(some)); return; } catch { /* the next is smaller */ }
  }
}

function download(text, name, type) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  make('a', {href: url, download: name}).click();
  URL.revokeObjectURL(url);
}

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-kept'), part = (selector) => root.querySelector(selector);
  const {say} = chip(root), list = part('.list');
  /** @type {import('./saved_list.js').KeptView[]} */
  let views = remembered();
  let now = -1, there = shown(location.search);

  function changed() {
    remember(views);
    show();
  }

  async function keep() {
    const title = [...document.querySelectorAll('#vx-rooms :is(.question, h2)')].find((node) => node.checkVisibility())?.textContent;
    const view = {title: title || document.title, query: shown(location.search), picture: await stagePicture()};
    views = [...views, view];
    now = views.length - 1;
    changed();
  }

  function lead(query) {
    there = query;
    trigger('go', {query});
  }

  function open(index) {
    if (!views[index]) return;
    now = index;
    const {query} = views[index];
    history.pushState(history.state, '', asLookedAt(query, location.search));
    lead(query);
    document.dispatchEvent(new CustomEvent('vx-address'));
    linkOpened();
    show();
  }

  /** @param {import('./saved_list.js').KeptView} view @param {number} i */
  function entry({title, picture}, i) {
    const {words} = props.value;
    const small = (className, text, label, onclick) => make('button', {type: 'button', className, textContent: text, title: label, ariaLabel: label, onclick});
    return make('li', {},
      make('button', {type: 'button', className: 'open', onclick: () => open(i), ...(i === now ? {ariaCurrent: 'true'} : {})},
        picture ? make('img', {src: picture, alt: ''}) : make('span', {textContent: String(i + 1)}), title),
      small('up', '↑', words.kept_up, () => { if (i) views.splice(i - 1, 2, views[i], views[i - 1]); changed(); }),
      small('drop', '×', words.kept_drop, () => { views.splice(i, 1); changed(); }));
  }

  part('.keep').addEventListener('click', keep);
  part('.export').addEventListener('click', () => download(written(views), 'vit-explorer-views.json', 'application/json'));
  part('.page').addEventListener('click', () => {
    const home = location.origin + location.pathname;
    download(lecturePage(views, home, document.documentElement.lang), 'vit-explorer-lecture.html', 'text/html');
  });
  part('.file').addEventListener('change', async ({target}) => {
    const found = read(await target.files[0].text());
    target.value = '';
    setText(part('.alert'), found ? '' : props.value.words.kept_unread);
    if (!found) return;
    views = [...views, ...found];
    changed();
  });

  document.addEventListener('keydown', (event) => {
    const step = TURNS[event.key];
    if (!step || !views.length || !inLecture()) return;
    event.preventDefault();
    event.stopPropagation();
    open(Math.max(0, Math.min(views.length - 1, now + step)));
  }, true);

  // What the rooms keep in the address themselves they restore themselves; another picture is Python's to bring.
  const picture = (query) => ['image', 'model', 'weights', 'fit', 'size'].map((name) => new URLSearchParams(query).get(name)).join();
  addEventListener('popstate', () => {
    const query = shown(location.search);
    if (picture(query) !== picture(there)) lead(query);
  });
  document.addEventListener('vx-ready', () => { there = shown(location.search); });

  function show() {
    const value = props.value;
    if (!value) return;
    const {words} = value;
    say('', words.kept, views.length ? filled(words.kept_count, {count: views.length}) : words.kept_none);
    for (const [name, word] of [['.keep', 'kept_keep'], ['.export', 'kept_export'], ['.import', 'kept_import'], ['.page', 'kept_page'], ['.note', 'kept_note']]) {
      setText(part(name), words[word]);
    }
    refill(list, ...views.map(entry));
    if (list.closest('.sheet').matches(':popover-open') && document.activeElement === document.body) part('.keep').focus();
  }

  watch('value', show);
  show();
}
