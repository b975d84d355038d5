// The rooms, and the only place that knows which one is entered: by a click here, by another part of the page that
// says `vx-room`, by back and forward.

import {inAddress, pushAddress, viewChanges, writeAddress} from '../kit/address.js';
import {make} from '../kit/dom.js';
import {svg} from '../kit/svg.js';

const BOOK = 'M12 5c-2.500-1.500-5.500-2-9-2v15c3.500 0 6.500.500 9 2c2.500-1.500 5.500-2 9-2V3c-3.500 0-6.500.500-9 2z M12 5v15';
let isNew = false, fill = () => {};  // the capture is, and no room was filled with it

/** The capture is new: the room that is looked at fills itself, as soon as the rail knows which one that is. */
export function look() {
  isNew = true;
  fill();
}

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-rail'), list = root.querySelector('ul');
  let isLearning = false;

  /**
   * @param {string} room
   * @param {string} by a `person`, who finds what is on the screen there, or a `link`, with which another capture comes
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

  function go(room) {
    if (room === root.dataset.room || !props.value || !props.value.rooms.some(({key}) => key === room)) return;
    pushAddress({room, ...viewChanges('', {})});
    enter(room);
    scrollTo({top: 0});
  }

  const picture = (icon) => svg('svg', {viewBox: '0 0 24 24', 'aria-hidden': 'true'}, svg('path', {d: icon}));

  const entry = ({key, title, icon, apart}) => make('li', {className: apart ? 'apart' : ''}, make('button', {
    type: 'button', dataset: {room: key}, onclick: () => go(key),
  }, picture(icon), title));

  /** The guided path is no room: it goes on beside whichever is entered. */
  const path = (title) => make('li', {}, make('button', {
    type: 'button', className: 'learn', ariaPressed: String(isLearning),
    onclick: () => document.dispatchEvent(new CustomEvent('vx-learn')),
  }, picture(BOOK), title));

  document.addEventListener('vx-learning', (/** @type {CustomEvent} */ event) => {
    isLearning = event.detail.open;
    const button = list.querySelector('.learn');
    if (button) button.ariaPressed = String(isLearning);
  });

  list.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
    const buttons = [...list.querySelectorAll('button')], at = buttons.indexOf(/** @type {any} */ (document.activeElement));
    if (!step || at < 0) return;
    event.preventDefault();
    buttons[(at + step + buttons.length) % buttons.length].focus();
  });
  document.addEventListener('vx-room', (/** @type {CustomEvent} */ event) => {
    go(event.detail.room);
    if (event.target === document.activeElement) /** @type {HTMLElement | null} */ (list.querySelector('[aria-current]'))?.focus({preventScroll: true});
  });
  fill = () => {
    if (!isNew || !root.dataset.room) return;
    isNew = false;
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
    const held = [...list.querySelectorAll('button')].indexOf(/** @type {any} */ (document.activeElement));
    list.replaceChildren(path(value.learn), ...value.rooms.map(entry));
    list.querySelectorAll('button')[held]?.focus({preventScroll: true});
    mark();
    if (inAddress('room')) writeAddress({room: value.room});  // a link may have an older name for it
    if (value.room !== root.dataset.room) enter(value.room, 'link');
    fill();
  }

  watch('value', show);
  show();
}
