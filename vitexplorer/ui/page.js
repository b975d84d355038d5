// What belongs to the page as a whole. What it puts on `window` is for the few lines of JavaScript that stand at
// gradio's own events; this module runs before gradio does.

import {writeAddress} from './kit/address.js';
import {explain} from './kit/glossary.js';
import {visitor} from './visitor.js';

window.vxAddress = writeAddress;
window.vxVisitor = visitor;

// What a visitor picks on the attention canvas stands in the address bar, so that a link opens the very map.
document.addEventListener('vx-select', (event) => {
  if (!event.target.closest('#vx-attention-canvas')) return;
  const {block, head, query} = event.detail;
  writeAddress({block, head, query});
});

// A room counts as entered when the rail says so; the tab that gradio selects while the page loads does not.
window.vxEnter = (room) => (document.querySelector('.vx-rail')?.dataset.room === room ? room : '');

// Terms explain themselves once the page has time to look for them.
addEventListener('load', () => explain(document.body));
