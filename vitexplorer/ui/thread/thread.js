// The strip under every room: one patch from the image to the answer. It follows what the address says was chosen.

import {chosenInAddress, enterRoom, onWritten, writeAddress} from '../kit/address.js';
import {make, refill} from '../kit/dom.js';
import {mapsPainted} from '../kit/motion.js';

const IMAGE_PAUSE = 300; // ms until the image is shown: the room has fetched the same file by then
const LAST_PAUSE = 1000; // ms until the last stops are asked for: they need a pass, and a person may choose again

/**
 * Thumbnail of a part of the image.
 *
 * @param {number[]} crop left, top, width and height in shares of the image
 */
function thumbnail([left, top, width, height]) {
  const at = (start, share) => (share < 1 ? (100 * start) / (1 - share) : 0);
  return make('i', {
    style: {
      'background-size': `${100 / width}% ${100 / height}%`,
      'background-position': `${at(left, width)}% ${at(top, height)}%`,
    },
  });
}

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const list = part('ol');
  let asked = ''; // choices that the strip is for, or will be once its answer is there
  let isNew = false; // other stops came
  let isDue = false;
  let waiting = 0;

  /** The choices of the address; the last block counts as none. */
  function chosenNow() {
    const {block, ...others} = chosenInAddress();
    return {...others, block: Number(block) === props.value.depth - 1 ? '' : block};
  }

  const textOf = ({query, block, head, target}) => JSON.stringify([query, block, head, target]);

  const send = ({block, ...others}, whole) => trigger('follow', {...others, block: block ? +block : null, whole});

  /** Shows and asks after the map of the room is painted, once for a burst of changes. */
  function follow() {
    if (!isDue) mapsPainted().then(update);
    isDue = true;
  }

  function update() {
    isDue = false;
    if (isNew) show(props.value);
    isNew = false;
    const chosen = chosenNow();
    if (!asked || textOf(chosen) === asked) return;
    asked = textOf(chosen);
    clearTimeout(waiting);
    send(chosen, false);
  }

  /** Opens a room on the very thing that a stop names. */
  function go({room, view, chosen}) {
    writeAddress(chosen);
    enterRoom(room, view);
  }

  /** Shows the image in the thumbnails, a moment after the room, so that it is sent once. */
  function showImage({image}) {
    const {href} = new URL(image.url, document.baseURI);
    setTimeout(() => list.style.setProperty('--seen', `url("${href}")`), IMAGE_PAUSE);
  }

  const button = (stop) =>
    make(
      'button',
      {title: stop.title, onclick: () => go(stop)},
      stop.crop.length ? thumbnail(stop.crop) : null,
      make('small', stop.label),
      ' ', // between the words of its name
      make('b', stop.text),
    );

  function show(value) {
    clearTimeout(waiting);
    asked = '';
    if (!value?.stops?.length) return list.replaceChildren();
    root.setAttribute('aria-label', value.label);
    refill(list, ...value.stops.map((stop) => make('li', button(stop))));
    showImage(value);
    asked = textOf(value.chosen);
    if (value.asks) waiting = setTimeout(() => send(value.chosen, true), LAST_PAUSE);
  }

  onWritten(follow);
  return () => {
    isNew = true;
    follow();
  };
}
