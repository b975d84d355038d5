// Switches of the interventions. A settled control sends all changes as one text; Python answers with the changed run.

import {compareScales} from '../../canvas/sharing.js';
import {form} from '../../controls/form.js';
import {writeAddress} from '../../kit/address.js';
import {make, refill, setText} from '../../kit/dom.js';
import {leadTo} from '../../kit/frame.js';

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  /** @type {Map<string, ReturnType<typeof newCard>>} */
  const cards = new Map();
  let waiting = 0;
  let asked = 0; // number of the latest question

  compareScales(root.closest('.vx-what-if'), part('.scales'), () => props.value?.words?.scales);

  /** Text of the changes; an intervention that was just switched on has no controls yet and gets Python's defaults. */
  function text() {
    return props.value.items
      .filter(({key}) => cards.get(key).box.checked)
      .map((item) => {
        const settings = Object.entries(cards.get(item.key).settings())
          .map(([name, value]) => `${name}=${value}`)
          .join(',');
        return settings ? `${item.key}:${settings}` : item.key;
      })
      .join(';');
  }

  function choose(changes) {
    asked += 1;
    clearTimeout(waiting);
    waiting = setTimeout(() => setText(part('.reading'), props.value.words.panel_working), 150);
    writeAddress({change: changes || 'nothing'});
    trigger('choose', {text: changes, asked});
  }

  function newCard(key) {
    const settled = () => choose(text());
    const host = make('div.controls');
    const box = make('input', {type: 'checkbox', onchange: settled});
    const title = make('span');
    const why = make('p.why');
    const card = make('div.item', {dataset: {key}}, make('label.switch', box, title), why, host);
    const controls = form(host, {settled, asked: () => asked});
    part('.items').append(card);
    return {
      box,
      settings: controls.settings,
      show({title: name, question, misleads, on, refused, controls: fields}, image) {
        setText(title, name);
        setText(why, refused || (on ? misleads : question));
        card.classList.toggle('on', on);
        Object.assign(box, {checked: on, disabled: Boolean(refused)});
        host.hidden = !on;
        controls.show(on ? fields : [], {image: image?.url});
      },
    };
  }

  function showItem(item, image) {
    if (!cards.has(item.key)) cards.set(item.key, newCard(item.key));
    cards.get(item.key).show(item, image);
  }

  function showExamples({examples, words, text: chosen}) {
    part('.examples').setAttribute('aria-label', words.examples);
    refill(
      part('.examples'),
      ...examples.map((one) =>
        make('button.toggle', {ariaPressed: String(one.text === chosen), onclick: () => choose(one.text)}, one.label),
      ),
    );
  }

  function show() {
    const value = props.value;
    if (!value?.items?.length || (value.asked && value.asked !== asked)) return;
    clearTimeout(waiting);
    showExamples(value);
    for (const item of value.items) showItem(item, value.image);
    setText(part('.question'), value.question);
    setText(part('.side h3'), value.words.changes_switches);
    setText(part('.reading'), value.refused || value.reading);
    part('.reading').classList.toggle('refused', Boolean(value.refused));
    leadTo(part('.next'), value.next, value.next_room);
    Object.assign(root.dataset, {state: value.refused ? 'refused' : 'ready', text: value.text});
  }

  return show;
}
