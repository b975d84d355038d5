// Saved views: a lecture as a list of links, stored in this browser. Presenter keys step through it; it is exported as
// a small file, or as a page that needs no server. The browser's back and forward buttons to another image or model are
// handled here, too.

import {linkOpened} from '../kit/address.js';
import {filled, make, onFiles, refill, setText, visible} from '../kit/dom.js';
import {saveFile, stagePicture} from '../kit/saving.js';
import {readStored, writeStored} from '../kit/stored.js';
import {chip} from './chips/chip.js';
import {inLecture} from './lecture.js';
import {lecturePage, pictureQuery, readList, withDisplay, writeList} from './saved_list.js';

const STORE = 'vx-kept';
const TURNS = {PageDown: 1, PageUp: -1};

/** Stores the views, without their pictures if those take too much space, or not at all if the browser refuses. */
function saveViews(views) {
  if (!writeStored(STORE, views))
    writeStored(
      STORE,
      views.map(({title, query}) => ({title, query})),
    );
}

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const {say} = chip(root);
  const list = part('.list');
  /** @type {import('./saved_list.js').SavedView[]} */
  let views = readStored(STORE, []);
  let current = -1; // index of the open view
  let lastQuery = pictureQuery(location.search);

  function update() {
    saveViews(views);
    show();
  }

  async function keep() {
    const title = visible('#vx-rooms :is(.question, h2)')?.textContent;
    const view = {title: title || document.title, query: pictureQuery(location.search), picture: await stagePicture()};
    views = [...views, view];
    current = views.length - 1;
    update();
  }

  function lead(query) {
    lastQuery = query;
    trigger('go', {query});
  }

  function open(index) {
    if (!views[index]) return;
    current = index;
    const {query} = views[index];
    history.pushState(history.state, '', withDisplay(query, location.search));
    lead(query);
    linkOpened();
    show();
  }

  /** @param {import('./saved_list.js').SavedView} view @param {number} i */
  function entry({title, picture}, i) {
    const {words} = props.value;
    const smallButton = (className, text, label, onclick) =>
      make('button', {className, title: label, ariaLabel: label, onclick}, text);
    return make(
      'li',
      make(
        'button.open',
        {onclick: () => open(i), ...(i === current ? {ariaCurrent: 'true'} : {})},
        picture ? make('img', {src: picture, alt: ''}) : make('span', String(i + 1)),
        title,
      ),
      smallButton('up', '↑', words.kept_up, () => {
        if (i) views.splice(i - 1, 2, views[i], views[i - 1]);
        update();
      }),
      smallButton('drop', '×', words.kept_drop, () => {
        views.splice(i, 1);
        update();
      }),
    );
  }

  part('.keep').addEventListener('click', keep);
  part('.export').addEventListener('click', () =>
    saveFile(new Blob([writeList(views)], {type: 'application/json'}), 'vit-explorer-views.json'),
  );
  part('.page').addEventListener('click', () => {
    const home = location.origin + location.pathname;
    saveFile(
      new Blob([lecturePage(views, home, document.documentElement.lang)], {type: 'text/html'}),
      'vit-explorer-lecture.html',
    );
  });
  onFiles(part('.file'), async ([file]) => {
    const imported = readList(await file.text());
    setText(part('.alert'), imported ? '' : props.value.words.kept_unread);
    if (!imported) return;
    views = [...views, ...imported];
    update();
  });

  document.addEventListener(
    'keydown',
    (event) => {
      const step = TURNS[event.key];
      // on the guided path they turn its steps
      if (!step || !views.length || !inLecture() || document.documentElement.classList.contains('vx-learning')) return;
      event.preventDefault();
      event.stopPropagation();
      open(Math.max(0, Math.min(views.length - 1, current + step)));
    },
    true,
  );

  // Rooms restore their own parameters from the address; another picture must come from Python.
  const picture = (query) =>
    ['image', 'model', 'weights', 'fit', 'size'].map((name) => new URLSearchParams(query).get(name)).join();
  addEventListener('popstate', () => {
    const query = pictureQuery(location.search);
    if (picture(query) !== picture(lastQuery)) lead(query);
  });
  document.addEventListener('vx-ready', () => {
    lastQuery = pictureQuery(location.search);
  });

  function show() {
    const value = props.value;
    if (!value) return;
    const {words} = value;
    say('', words.kept, views.length ? filled(words.kept_count, {count: views.length}) : words.kept_none);
    for (const [name, word] of [
      ['.keep', 'kept_keep'],
      ['.export', 'kept_export'],
      ['.import', 'kept_import'],
      ['.page', 'kept_page'],
      ['.note', 'kept_note'],
    ]) {
      setText(part(name), words[word]);
    }
    refill(list, ...views.map(entry));
    if (list.closest('.sheet').matches(':popover-open') && document.activeElement === document.body)
      part('.keep').focus();
  }

  return show;
}
