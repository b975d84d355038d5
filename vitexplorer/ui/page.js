// What belongs to the page as a whole. What it puts on `window` is for the few lines of JavaScript that stand at
// gradio's own events; this module runs before gradio does.

import {displayParameters} from './canvas/display.js';
import {inAddress, writeAddress} from './kit/address.js';
import {explain} from './kit/glossary.js';
import {theme} from './kit/theme.js';
import {embedIfAsked} from './shell/embedded.js';
import {lectureMode} from './shell/lecture.js';
import {look} from './shell/rail.js';
import {visitor} from './shell/visitor.js';

lectureMode(inAddress('lecture') === '1'); // before anything is laid out
embedIfAsked();
window.vxAddress = writeAddress;
window.vxVisitor = visitor;
// What a panel is to show, in the last input of an event.
window.vxShown = (...inputs) => [...inputs.slice(0, -1), JSON.stringify({search: location.search, theme: theme()})];

// What a visitor picks on the canvases stands in the address bar, so that a link opens the very map.
document.addEventListener('vx-select', (event) => {
  const {block, head, query, settings} = event.detail;
  if (event.target.closest('#vx-attention-canvas'))
    writeAddress({block, head, query, ...displayParameters(event.detail)});
  if (event.target.closest('#vx-plain-canvas, #vx-left-canvas'))
    writeAddress({both_block: block, both_head: head, both_query: query, ...displayParameters(event.detail)});
  if (event.target.closest('#vx-right-canvas')) writeAddress({other_block: block});
  if (event.target.closest('#vx-flow-canvas')) {
    const {head_fusion: fusion, discard_ratio: discard, start_block: start} = settings;
    const other = (value, first) => (value === first ? '' : value);
    writeAddress({
      source: other(query, 'cls'),
      fusion: other(fusion, 'mean'),
      discard: other(discard, '0'),
      start: other(start, '0'),
      ...displayParameters(event.detail),
    });
  }
});

// A room counts as entered when the rail says so, and a person did it: with a link comes another capture, and what a
// room showed before that is there would be taken back.
window.vxEnter = (room) => (document.querySelector(`.vx-rail[data-room="${room}"][data-by="person"]`) ? room : '');

window.vxLook = look;

// What the keyboard comes to does not stay under the bar or, on a phone, under the rail, as scroll-padding says.
document.addEventListener('focusin', ({target}) => {
  const focused = /** @type {HTMLElement} */ (target);
  if (focused.matches(':focus-visible'))
    (focused.closest('label') ?? focused).scrollIntoView({block: 'nearest', inline: 'nearest'});
});

// Terms explain themselves once the page has time to look for them.
addEventListener('load', () => explain(document.body).catch((error) => console.warn('glossary:', error)));
