// Status line: progress, then the model's answer to the image. It also writes the page's state into the address bar. In
// an embedded page it is a line at the foot with a link to the whole page.

import {onWritten, writeAddress} from '../kit/address.js';
import {make, setText} from '../kit/dom.js';
import {leaveRoom, notice} from '../kit/notices.js';
import {addressFor, isEmbedded} from './layouts.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const line = part('.line');
  const bar = part('.bar i');
  const act = part('.hint .act');
  const foot = part('.foot span');
  const whole = part('.foot a');
  const updateLink = () => {
    whole.href = addressFor(location.href, false);
  };
  part('.foot').hidden = !isEmbedded();
  onWritten(updateLink);
  updateLink();
  act.addEventListener('click', () => trigger('choose', {model: props.value.hint_model}));

  let refused = ''; // reason why a request failed, until a person closes it or new data arrive
  const fail = notice(part('.error'), () => {
    refused = '';
    show();
  });
  const warn = notice(part('.warning'));
  const suggest = notice(part('.hint'));

  function show() {
    const value = refused
      ? {...props.value, kind: 'error', answer: '', text: refused, address: null}
      : props.value || {};
    const share = value.share ?? null;
    line.replaceChildren(...(value.answer ? [make('b', value.answer)] : [value.text || '']));
    line.title = value.kind === 'ready' ? value.text : '';
    fail(value.kind === 'error' ? value.text : '');
    warn(value.warning || '');
    setText(act, value.hint_button || '');
    act.hidden = !value.hint_model;
    suggest(value.warning ? '' : value.hint || '');
    root.dataset.kind = value.kind || 'busy';
    root.dataset.text = value.text || '';
    root.toggleAttribute('data-unknown', share === null);
    bar.style.width = share === null ? '' : `${100 * share}%`;
    if (value.address) writeAddress(value.address);
    const caution = value.warning || value.hint;
    foot.parentElement.classList.toggle('warns', Boolean(caution));
    foot.title = [caution, value.about || value.text].filter(Boolean).join(' · ');
    setText(foot, foot.title);
    setText(whole, value.whole || '');
    if (value.kind !== 'ready') return;
    if (Object.keys(value.address ?? {}).length) document.dispatchEvent(new CustomEvent('vx-ready'));
    if (value.asks) trigger('ask', {});
  }

  document.addEventListener('vx-refused', ({detail}) => {
    refused = detail.why;
    root.parentElement.inert = false;
    show();
  });
  leaveRoom(part('.vx-notices'));
  return () => {
    refused = '';
    show();
  };
}
