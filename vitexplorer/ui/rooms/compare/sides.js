// Texts and presets of a comparison. The right side is chosen in chips of its own; this module writes it into the
// address.

import {compareScales} from '../../canvas/sharing.js';
import {goTo, inAddress, writeAddress} from '../../kit/address.js';
import {make, refill, setText} from '../../kit/dom.js';

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  let latest = /** @type {any} */ (null); // the last value with both sides; values with progress hold nothing else

  /** Changes of the room What if from the address; its first change where none was made. */
  function toggleChange(side) {
    const {changes, first_change: first} = latest;
    const chosen = inAddress('change');
    trigger('choose', {[side]: changes[side] ? '' : chosen && chosen !== 'nothing' ? chosen : first});
  }

  part('.swap').addEventListener('click', () => latest && goTo(latest.swapped));
  const sides = {left_change: part('.changed.left-side'), change: part('.changed.right-side')};
  for (const [side, button] of Object.entries(sides))
    button.addEventListener('click', () => latest && toggleChange(side));

  const preset = ({label, changes}) => make('button', {onclick: () => goTo(changes)}, label);

  compareScales(root.closest('.vx-compare'), part('.scales'), () => latest?.words.scales);

  let asked = null; // the value whose passes were asked for

  /** Asks for the pictures of both networks once that comparison is chosen. */
  function askForPasses() {
    const chosen = root.closest('.vx-compare').querySelector('.vx-panel')?.dataset.view;
    if (chosen !== 'network' || !latest || asked === latest) return;
    asked = latest;
    trigger('passes', {});
  }

  const views = {subtree: true, attributes: true, attributeFilter: ['data-view']};
  new MutationObserver(askForPasses).observe(root.closest('.vx-compare'), views);

  function show() {
    const value = props.value;
    if (!value) return;
    setText(part('.reading'), value.refused || value.working || value.reading);
    part('.reading').classList.toggle('refused', Boolean(value.refused));
    if (!value.words?.swap) return;
    latest = value;
    const {words} = value;
    setText(part('.question'), value.question);
    part('.presets').setAttribute('aria-label', words.presets);
    refill(part('.presets'), ...value.presets.map(preset));
    setText(part('.left b'), value.title);
    setText(part('.left small'), value.note);
    setText(part('.swap'), words.swap);
    setText(sides.left_change, words.left_changed);
    setText(sides.change, words.right_changed);
    for (const [side, button] of Object.entries(sides)) button.ariaPressed = String(Boolean(value.changes[side]));
    refill(part('.notes'), ...value.notes.map((text) => make('li', text)));
    Object.assign(root.dataset, {state: value.refused ? 'refused' : 'ready'});
    if (!value.refused) writeAddress(value.address);
    askForPasses();
  }

  return show;
}
