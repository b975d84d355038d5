// Rail of rooms. It alone knows the open room, which changes by a click here, by the event `vx-room` of another part of
// the page, and by the browser's back and forward buttons.

import {inAddress, pushAddress, viewChanges, writeAddress} from '../kit/address.js';
import {make, stepFocus} from '../kit/dom.js';
import {svg} from '../kit/svg.js';

const BOOK =
  'M12 5c-2.500-1.500-5.500-2-9-2v15c3.500 0 6.500.500 9 2c2.500-1.500 5.500-2 9-2V3c-3.500 0-6.500.500-9 2z M12 5v15';
let isCaptureNew = false; // true until a room was filled with it
let fill = () => {};

/** Announces a new capture: the open room fills itself as soon as the rail knows which one is open. */
export function look() {
  isCaptureNew = true;
  fill();
}

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({root, props, trigger}) {
  const list = root.querySelector('ul');
  let isLearning = false;

  /**
   * @param {string} room
   * @param {string} by `person`, who sees the current capture in the room, or `link`, which brings another capture
   */
  function enter(room, by = 'person') {
    Object.assign(root.dataset, {room, by});
    mark();
    list.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
    trigger('enter', {room});
    document.dispatchEvent(new CustomEvent('vx-address'));
  }

  function mark() {
    for (const button of list.querySelectorAll('[data-room]')) {
      if (button.dataset.room === root.dataset.room) button.setAttribute('aria-current', 'page');
      else button.removeAttribute('aria-current');
    }
  }

  const isRoom = (room) => Boolean(props.value?.rooms?.some(({key}) => key === room));

  /** Returns false while a link to another room waits for its answer. */
  const isAsked = (room) => [room, ''].includes(inAddress('room'));

  function go(room, view = '') {
    const isOpen = room === root.dataset.room;
    if ((isOpen && !view && isAsked(room)) || !isRoom(room)) return;
    pushAddress({room, ...viewChanges(view, {})});
    if (isOpen) document.dispatchEvent(new CustomEvent('vx-address'));
    else enter(room);
    scrollTo({top: 0});
  }

  const picture = (icon) => svg('svg', {viewBox: '0 0 24 24', 'aria-hidden': 'true'}, svg('path', {d: icon}));

  /** A title breaks at its spaces, not at a hyphen. */
  const entry = ({key, title, icon}) =>
    make(
      'li',
      make(
        'button',
        {dataset: {room: key}, onclick: () => go(key)},
        picture(icon),
        make('span', {style: {'white-space': title.includes(' ') ? 'normal' : 'nowrap'}}, title),
      ),
    );

  const groups = (rooms) =>
    [...new Set(rooms.map(({group}) => group))].map((title) =>
      make(
        'li.group',
        make('p', {ariaHidden: 'true'}, title),
        make('ul', {ariaLabel: title}, ...rooms.filter(({group}) => group === title).map(entry)),
      ),
    );

  /** Button of the guided path, which is not a room: it stays open beside every room. */
  const path = (title) =>
    make(
      'li',
      make(
        'button.learn',
        {ariaPressed: String(isLearning), onclick: () => document.dispatchEvent(new CustomEvent('vx-learn'))},
        picture(BOOK),
        title,
      ),
    );

  document.addEventListener('vx-learning', (/** @type {CustomEvent} */ event) => {
    isLearning = event.detail.open;
    const button = list.querySelector('.learn');
    if (button) button.ariaPressed = String(isLearning);
  });

  list.addEventListener('keydown', (event) => stepFocus(event, list.querySelectorAll('button')));
  document.addEventListener('vx-room', (/** @type {CustomEvent} */ event) => {
    go(event.detail.room, event.detail.view);
    if (event.target === document.activeElement)
      /** @type {HTMLElement | null} */ (list.querySelector('[aria-current]'))?.focus({preventScroll: true});
  });
  fill = () => {
    if (!isCaptureNew || !root.dataset.room) return;
    isCaptureNew = false;
    trigger(`look_${root.dataset.room}`, {});
  };
  addEventListener('popstate', () => {
    if (!props.value) return;
    const room = new URL(location.href).searchParams.get('room') ?? props.value.first;
    if (room !== root.dataset.room) enter(room);
  });

  function show() {
    const value = props.value;
    if (!value) return;
    root.setAttribute('aria-label', value.label);
    const focused = [...list.querySelectorAll('button')].indexOf(/** @type {any} */ (document.activeElement));
    list.replaceChildren(path(value.learn), ...groups(value.rooms));
    list.querySelectorAll('button')[focused]?.focus({preventScroll: true});
    mark();
    // The address is newer than this answer where a person has opened another room since. An old link may have a former
    // key, which only the answer knows.
    const room = isRoom(inAddress('room')) ? inAddress('room') : value.room;
    if (inAddress('room')) writeAddress({room});
    if (room !== root.dataset.room) enter(room, 'link');
    fill();
  }

  return show;
}
