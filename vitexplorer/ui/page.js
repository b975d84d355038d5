// What belongs to the page as a whole. What it puts on `window` is for the few lines of JavaScript that stand at
// gradio's own events; this module runs before gradio does.

import {inAddress, writeAddress} from './kit/address.js';
import {explain} from './kit/glossary.js';
import {mapsPainted} from './kit/motion.js';
import {visitor} from './kit/sending.js';
import {theme} from './kit/theme.js';
import {embedIfAsked} from './shell/layouts.js';
import {lectureMode} from './shell/lecture.js';
import {look} from './shell/rail.js';

lectureMode(inAddress('lecture') === '1'); // before anything is laid out
embedIfAsked();
window.vxAddress = writeAddress;
window.vxVisitor = visitor;
// What a panel is to show, in the last input of an event.
window.vxShown = (...inputs) => [...inputs.slice(0, -1), JSON.stringify({search: location.search, theme: theme()})];

// A room counts as entered when the rail says so, and a person did it: with a link comes another capture, and what a
// room showed before that is there would be taken back.
window.vxEnter = (room) => (document.querySelector(`.vx-rail[data-room="${room}"][data-by="person"]`) ? room : '');

// The open room and the menu ask their questions once the map is painted.
window.vxLook = async (...inputs) => {
  await mapsPainted();
  look();
  return visitor(...inputs);
};

// What the keyboard comes to does not stay under the bar or, on a phone, under the rail, as scroll-padding says.
document.addEventListener('focusin', ({target}) => {
  const focused = /** @type {HTMLElement} */ (target);
  if (focused.matches(':focus-visible'))
    (focused.closest('label') ?? focused).scrollIntoView({block: 'nearest', inline: 'nearest'});
});

// Terms explain themselves once the page has time to look for them.
addEventListener('load', () => explain(document.body).catch((error) => console.warn('glossary:', error)));
