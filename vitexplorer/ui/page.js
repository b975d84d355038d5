// Setup of the page as a whole, which runs before gradio does. The functions on `window` are called by the short lines
// of JavaScript at gradio's own events.

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
// Returns the inputs of an event, the last of them replaced by the address and the theme, which tell what to show.
window.vxShown = (...inputs) => [...inputs.slice(0, -1), JSON.stringify({search: location.search, theme: theme()})];

// Returns the room if a person opened it in the rail, otherwise an empty text. A link to a room brings another capture,
// and the room waits for it.
window.vxEnter = (room) => (document.querySelector(`.vx-rail[data-room="${room}"][data-by="person"]`) ? room : '');

// Delays the questions of the open room and of the menu until the map is painted.
window.vxLook = async (...inputs) => {
  await mapsPainted();
  look();
  fetchRooms();
  return visitor(...inputs);
};

// Fetches the scripts of all rooms, so that entering one waits for none; what does not arrive is fetched on entering.
async function fetchRooms() {
  for (const {dataset} of /** @type {Iterable<HTMLElement>} */ (document.querySelectorAll('template[data-module]'))) {
    const [folder, room] = dataset.module.split('/');
    if (folder === 'rooms') await import(`./rooms/${room}.js`).catch(() => {});
  }
}

// Scrolls a part that the keyboard reaches out from under the bar or, on a phone, the rail, as scroll-padding says.
document.addEventListener('focusin', ({target}) => {
  const focused = /** @type {HTMLElement} */ (target);
  if (focused.matches(':focus-visible'))
    (focused.closest('label') ?? focused).scrollIntoView({block: 'nearest', inline: 'nearest'});
});

// Marks the terms of the glossary once the page has loaded.
addEventListener('load', () => explain(document.body).catch((error) => console.warn('glossary:', error)));
