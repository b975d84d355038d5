// Images of a choice; more load while scrolling, and a pressed one opens in every room.

import {filled, make, refill, setText} from '../../kit/dom.js';
import {ask} from './server.js';

const PAGE = 60;
const PATIENCE = 4000; // milliseconds between two updates while a survey is running

/**
 * @param {HTMLElement} root
 * @param {object} does
 * @param {(row: any) => void} does.open
 * @param {(changes: {order?: string, sentence?: string}) => void} does.sort
 */
export function gallery(root, {open, sort}) {
  const list = root.querySelector('ul');
  const order = root.querySelector('select');
  const sentence = root.querySelector('.sentence');
  const more = root.querySelector('.more');
  let asked = /** @type {Record<string, string>} */ ({});
  let words = /** @type {Record<string, string>} */ ({});
  let pictureKey = '';
  let marked = '';
  let shown = 0;
  let turn = 0;
  let whole = true;
  let loading = false;
  let since = 0;

  function tile(row) {
    const name = filled(words.gallery_open, {path: row.path});
    const lost = (text, title) => make('span.unread', {title}, text);
    const picture = row.reason
      ? lost(words.gallery_unread, row.reason)
      : make('img', {
          src: `./survey-pictures/${pictureKey}?${new URLSearchParams({row: row.row})}`,
          alt: '',
          loading: 'lazy',
          decoding: 'async',
          onerror: () => picture.replaceWith(lost(words.gallery_gone, '')),
        });
    const caption = make('span.caption', row.caption);
    const button = make(
      'button',
      {
        disabled: Boolean(row.reason),
        title: `${row.path}\n${row.caption}`,
        ariaLabel: `${name}. ${row.caption}`,
        dataset: {row: row.row, path: row.path, correct: String(row.correct)},
        onclick: () => open(row),
      },
      picture,
      caption,
    );
    return make('li', button);
  }

  function press(button) {
    if (marked === button.dataset.row) button.setAttribute('aria-pressed', 'true');
    else button.removeAttribute('aria-pressed');
  }

  async function load() {
    if (loading || whole) return;
    loading = true;
    const mine = turn;
    const came = await ask('gallery', {...asked, offset: String(shown), limit: String(PAGE)});
    loading = false;
    if (mine !== turn) return load();
    const rows = came?.rows ?? [];
    const tiles = rows.map(tile);
    for (const one of tiles) press(one.firstChild);
    if (shown) list.append(...tiles);
    else {
      refill(list, ...tiles);
      list.scrollTop = 0;
    }
    shown += rows.length;
    whole = rows.length < PAGE || Boolean(came.whole);
    setText(root.querySelector('.none'), shown ? '' : (came?.refused ?? words.gallery_none));
    more.hidden = whole;
    root.dataset.shown = String(shown);
    delete root.dataset.working;
  }

  order.addEventListener('change', () => {
    sort({order: order.value});
    if (!sentence.hidden) sentence.focus();
  });
  sentence.addEventListener('change', () => sort({sentence: sentence.value.trim()}));
  more.addEventListener('click', load);
  new IntersectionObserver(
    (entries) => {
      if (entries.some(({isIntersecting}) => isIntersecting)) load();
    },
    {root: list, rootMargin: '300px'},
  ).observe(more);

  return {
    /**
     * @param {object} now
     * @param {Record<string, string>} now.asked survey, choice and order
     * @param {{key: string, title: string}[]} now.orders
     * @param {string} now.pictureKey
     * @param {Record<string, string>} now.words
     * @param {boolean} now.running true while the survey adds images
     */
    show({asked: wanted, orders, pictureKey: itsKey, words: said, running}) {
      [words, pictureKey] = [said, itsKey];
      setText(root.querySelector('h3'), words.gallery_title);
      setText(more, words.gallery_more);
      order.setAttribute('aria-label', words.chart_order);
      refill(order, ...orders.map(({key, title}) => make('option', {value: key}, title)));
      order.value = wanted.order;
      sentence.hidden = wanted.order !== 'sentence';
      if (document.activeElement !== sentence) sentence.value = wanted.sentence;
      Object.assign(sentence, {placeholder: words.gallery_sentence, ariaLabel: words.gallery_sentence});
      const isSame = (other) => JSON.stringify({...wanted, at: ''}) === JSON.stringify({...other, at: ''});
      const isRead =
        running &&
        isSame(asked) &&
        (list.scrollTop > 8 || list.contains(document.activeElement) || performance.now() - since < PATIENCE);
      if (isRead || JSON.stringify(wanted) === JSON.stringify(asked)) return;
      asked = wanted;
      since = performance.now();
      root.dataset.working = '';
      [turn, shown, whole] = [turn + 1, 0, false];
      load();
    },
    /**
     * @param {string} row row of the image in the chart; empty for none
     * @param {string} hint effect of pressing an image
     */
    mark(row, hint) {
      marked = row;
      setText(root.querySelector('.hint'), hint);
      for (const button of list.querySelectorAll('li > button')) press(button);
    },
    /** Ignores answers to come, and requests the next images anew. */
    forget() {
      asked = {};
      [turn, whole] = [turn + 1, true];
    },
  };
}
