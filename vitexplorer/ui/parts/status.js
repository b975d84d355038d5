// The status line: what is going on and how far it is, then what the model says of the picture; what the page shows
// goes into the address bar. In a frame of another page it is a line at the foot, which leads to the whole page.

import {onWritten, writeAddress} from '../kit/address.js';
import {make, setText} from '../kit/dom.js';
import {addressFor, isEmbedded} from './embedded.js';

const SAID = 10_000;  // milliseconds for which a refusal stands there

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-status'), part = (selector) => root.querySelector(selector);
  const line = part('.line'), warning = part('.warning'), hint = part('.hint'), filled = part('.bar i');
  const foot = part('.foot span'), whole = part('.foot a'), lead = () => { whole.href = addressFor(location.href, false); };
  part('.foot').hidden = !isEmbedded();
  onWritten(lead);
  lead();
  part('.hint button').addEventListener('click', () => trigger('choose', {model: props.value.hint_model}));

  let refused = '', ends = 0;  // why a question was not answered, while that stands there

  function show() {
    const value = refused ? {...props.value, kind: 'error', answer: '', text: refused, address: null} : props.value || {};
    const share = value.share ?? null;
    line.replaceChildren(...(value.answer ? [make('b', {textContent: value.answer})] : [value.text || '']));
    line.title = value.kind === 'ready' ? value.text : '';
    warning.textContent = value.warning || '';
    warning.hidden = !value.warning;
    part('.hint span').textContent = value.hint || '';
    part('.hint button').textContent = value.hint_button || '';
    part('.hint button').hidden = !value.hint_model;
    hint.hidden = !value.hint || Boolean(value.warning);
    document.documentElement.classList.toggle('vx-noted', Boolean(value.warning || value.hint));
    root.dataset.kind = value.kind || 'busy';
    root.dataset.text = value.text || '';
    root.toggleAttribute('data-unknown', share === null);
    filled.style.width = share === null ? '' : `${100 * share}%`;
    if (value.address) writeAddress(value.address);
    setText(foot, value.about || value.text || '');
    setText(whole, value.whole || '');
    if (value.kind === 'ready') document.dispatchEvent(new CustomEvent('vx-ready'));
  }

  document.addEventListener('vx-refused', ({detail}) => {
    refused = detail.why;
    clearTimeout(ends);
    ends = setTimeout(() => { refused = ''; show(); }, SAID);
    show();
  });
  watch('value', () => { refused = ''; show(); });
  show();
}
