// Interventions as switches. Whatever settles sends all changes as one text; Python answers with the changed run.

import {writeAddress} from '../kit/address.js';
import {make, refill, setText} from '../kit/dom.js';
import {form, missing, shape} from '../kit/form.js';
import {leadTo} from '../kit/frame.js';

/** @param {import('../kit/widget.js').Gradio} gradio */
export function mount({element, props, trigger, watch}) {
  const root = element.querySelector('.vx-changes'), part = (selector) => root.querySelector(selector);
  /** @type {Map<string, {card: HTMLElement, box: HTMLInputElement, controls: ReturnType<typeof form> | null, made: string}>} */
  const cards = new Map();
  let waiting = 0, asked = 0;  // number of the latest question

  function settings({key, controls}) {
    return cards.get(key)?.controls?.settings() ?? Object.fromEntries(controls.map(({name, value}) => [name, value]));
  }

  function text() {
    return props.value.items.filter(({key}) => cards.get(key).box.checked).map((item) => {
      const said = Object.entries(settings(item)).map(([name, value]) => `${name}=${value}`).join(',');
      return said ? `${item.key}:${said}` : item.key;
    }).join(';');
  }

  function choose(changes) {
    asked += 1;
    clearTimeout(waiting);
    waiting = setTimeout(() => setText(part('.reading'), props.value.words.panel_working), 150);
    writeAddress({change: changes || 'nothing'});
    trigger('choose', {text: changes, asked});
  }

  function cardOf({key, title, question, misleads, on, refused, controls: fields}, image, made) {
    const settled = () => choose(text());
    const box = make('input', {type: 'checkbox', checked: on, disabled: Boolean(refused), onchange: settled});
    const controls = on ? form(fields, {image: image?.url, settled, pending: () => false, asked: () => asked}) : null;
    const card = make('div', {className: `item${on ? ' on' : ''}`, dataset: {key}},
      make('label', {className: 'switch'}, box, title),
      make('p', {className: 'why', textContent: refused || (on ? misleads : question)}),
      ...(controls ? [make('div', {className: 'controls'}, ...controls.elements)] : []));
    return {card, box, controls, made};
  }

  // A card is made anew when it is switched or its controls are others; otherwise its controls follow the answer.
  function showItem(item, image) {
    const {controls: fields, ...rest} = item, made = JSON.stringify([rest, shape(fields), image?.url]);
    const before = cards.get(item.key);
    if (before?.made === made) {
      before.controls?.answer(fields);
      before.box.checked = item.on;
      return;
    }
    const now = cardOf(item, image, made), isFocused = before?.card.contains(document.activeElement);
    cards.set(item.key, now);
    if (before) before.card.replaceWith(now.card);
    else part('.items').append(now.card);
    if (isFocused) now.box.focus({preventScroll: true});
  }

  function showExamples({examples, words, text: chosen}) {
    part('.examples').setAttribute('aria-label', words.changes_examples);
    refill(part('.examples'), ...examples.map((one) => make('button', {
      type: 'button', textContent: one.label, ariaPressed: String(one.text === chosen), onclick: () => choose(one.text),
    })));
  }

  function show() {
    const value = props.value;
    if (!value?.items?.length || (value.asked && value.asked !== asked)) return;
    const kinds = missing(value.items.flatMap(({controls}) => controls));
    if (kinds) {
      kinds.then(show);
      return;
    }
    clearTimeout(waiting);
    showExamples(value);
    for (const item of value.items) showItem(item, value.image);
    setText(part('.question'), value.words.changes_question);
    setText(part('.side h3'), value.words.changes_switches);
    setText(part('.reading'), value.refused || value.answer);
    part('.reading').classList.toggle('refused', Boolean(value.refused));
    leadTo(part('.next'), value.next, value.next_room);
    Object.assign(root.dataset, {state: value.refused ? 'refused' : 'ready', text: value.text});
  }

  watch('value', show);
  show();
}
