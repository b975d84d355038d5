// Previews of a room's views on the current image: a strip under a figure, or a list in an inspector. The room's panel
// provides the views with `offerViews`; its other components show the same list with `otherViews`.

import {make, stepFocus} from './dom.js';

/**
 * @typedef {object} Preview
 * @property {string} key
 * @property {string} title
 * @property {string} question question that it answers
 * @property {string} [group] heading that it stands under
 * @property {boolean} [slow] true if it needs passes through the model
 * @property {boolean} [own] true if the room shows it itself, not in its panel
 * @property {string} [needs] cost of its picture in words, shown until it is computed; "other model" where refused
 * @property {string} [refused] reason why this model does not have the view
 * @property {{url: string} | null} [preview] its picture; null until it is computed
 */

/**
 * @typedef {object} Offer choice of views in a room
 * @property {Preview[]} views
 * @property {string} chosen key of the selected view
 * @property {string} label
 * @property {(key: string) => void} choose
 */

function thumbnail({key, title, question, slow, needs = '', refused}) {
  const picture = make('span.picture', {ariaHidden: 'true', dataset: {needs}});
  return make(
    'button',
    {
      role: 'tab',
      title: refused || question || title,
      tabIndex: -1,
      dataset: {view: key, ...(slow ? {slow: ''} : {}), ...(refused ? {refused: ''} : {})},
    },
    picture,
    make('span.title', title),
  );
}

// The button itself stays when its picture arrives: a person may be pressing it.
function showPicture(button, url) {
  const picture = button.querySelector('.picture');
  const now = picture.querySelector('img')?.getAttribute('src') ?? '';
  if (url !== now) picture.replaceChildren(...(url ? [make('img', {src: url, alt: ''})] : []));
}

/**
 * Returns the views under their headings, in the order of the list.
 *
 * @param {Preview[]} views
 * @returns {{heading: string, views: Preview[]}[]} one entry without a heading where all have the same, or any has none
 */
export function groupsOf(views) {
  const headings = [...new Set(views.map(({group = ''}) => group))];
  if (headings.length < 2 || headings.includes('')) return [{heading: '', views}];
  return headings.map((heading) => ({heading, views: views.filter(({group}) => group === heading)}));
}

// Tabs belong to a tab list, so every group is one; the heading is its name for screen readers.
function groupOf({heading, views}) {
  const tiles = views.map(thumbnail);
  tiles[0].prepend(make('span.heading', {ariaHidden: 'true'}, heading));
  return make('div.view-group', {role: 'tablist', ariaLabel: heading}, ...tiles);
}

/** Scrolls a strip sideways until a tile is in its middle, unless all of the tile is in sight. */
function bringIntoSight(strip, tile) {
  const [around, {left, right}] = [strip.getBoundingClientRect(), tile.getBoundingClientRect()];
  if (left >= around.left && right <= around.right) return;
  strip.scrollLeft += (left + right - around.left - around.right) / 2;
}

/**
 * Makes a list of previews with one selected; arrow keys move the selection.
 *
 * @param {(key: string) => void} choose
 */
export function previewList(choose) {
  const element = make('div.vx-row.vx-previews', {role: 'tablist'});
  let listed = '';
  let marked = '';

  element.addEventListener('click', ({target}) => {
    const button = /** @type {HTMLElement} */ (target).closest('button');
    if (button) choose(button.dataset.view);
  });
  element.addEventListener('keydown', (event) => {
    const next = stepFocus(event, element.querySelectorAll('button'), true);
    if (next) choose(next.dataset.view);
  });

  return {
    element,
    /** @param {Offer} offer */
    show({views, chosen, label}) {
      const now = JSON.stringify(views.map((view) => ({...view, preview: null})));
      const focused = element.contains(document.activeElement);
      if (now !== listed) {
        const groups = groupsOf(views);
        element.role = groups.length > 1 ? 'group' : 'tablist';
        element.replaceChildren(...(groups.length > 1 ? groups.map(groupOf) : views.map(thumbnail)));
      }
      listed = now;
      element.setAttribute('aria-label', label);
      const pictures = new Map(views.map(({key, preview}) => [key, preview?.url ?? '']));
      for (const button of element.querySelectorAll('button')) {
        showPicture(button, pictures.get(button.dataset.view));
        const isChosen = button.dataset.view === chosen;
        button.setAttribute('aria-selected', String(isChosen));
        button.tabIndex = isChosen ? 0 : -1;
        if (isChosen && focused) button.focus();
        // its strip may be hidden until the room knows its view
        if (isChosen && chosen !== marked) requestAnimationFrame(() => bringIntoSight(element, button));
      }
      marked = chosen;
      if (!views.some(({key}) => key === chosen)) element.querySelector('button')?.setAttribute('tabindex', '0');
    },
  };
}

// ------------------------------------------------------------------------------ several components of one room

const ROOM = '.vx-views';
/** @type {WeakMap<Element, {offer: Offer | null, follow: Set<(offer: Offer) => void>}>} */
const rooms = new WeakMap();

function roomOf(inside) {
  const column = inside.closest(ROOM);
  if (!column) return null;
  if (!rooms.has(column)) rooms.set(column, {offer: null, follow: new Set()});
  return rooms.get(column);
}

/**
 * Passes the choice of views from the room's panel to its other components.
 *
 * @param {Element} inside an element of the room
 * @param {Offer} offer
 */
export function offerViews(inside, offer) {
  const room = roomOf(inside);
  const column = /** @type {HTMLElement | null} */ (inside.closest(ROOM));
  if (!room) return;
  const wasHere = Boolean(document.activeElement.closest('.vx-previews')) && column.contains(document.activeElement);
  room.offer = offer;
  column.dataset.view = offer.chosen;
  column.toggleAttribute('data-own', Boolean(offer.views.find(({key}) => key === offer.chosen)?.own));
  for (const callback of room.follow) callback(offer);
  if (wasHere) keepFocus(column);
}

/** Moves the focus to the visible list of the room if it was in the list that has just been hidden. */
function keepFocus(column) {
  const focused = document.activeElement;
  if (column.contains(focused) && focused.checkVisibility()) return;
  const chosen = /** @type {HTMLElement[]} */ ([...column.querySelectorAll('.vx-previews [aria-selected="true"]')]);
  chosen.find((button) => button.checkVisibility())?.focus();
}

/**
 * Makes the same previews for an inspector: an element that fills itself once the panel offers its views. It stays
 * empty in a room without a panel.
 *
 * @param {Element} inside an element of the room that is already on the page
 */
export function otherViews(inside) {
  const room = roomOf(inside);
  const list = previewList((key) => room?.offer?.choose(key));
  list.element.classList.add('listed');
  room?.follow.add(list.show);
  if (room?.offer) list.show(room.offer);
  return list.element;
}
