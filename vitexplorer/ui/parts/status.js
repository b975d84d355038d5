// The status line: what is going on and how far it is; what the page shows goes into the address bar.

import {writeAddress} from '../kit/address.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, watch}) {
  const root = element.querySelector('.vx-status');
  const line = root.querySelector('.line'), warning = root.querySelector('.warning'), filled = root.querySelector('.bar i');

  function show() {
    const value = props.value || {};
    const share = value.share ?? null;
    line.textContent = value.text || '';
    warning.textContent = value.warning || '';
    warning.hidden = !value.warning;
    root.dataset.kind = value.kind || 'busy';
    root.toggleAttribute('data-unknown', share === null);
    filled.style.width = share === null ? '' : `${100 * share}%`;
    if (value.address) writeAddress(value.address);
  }

  watch('value', show);
  show();
}
