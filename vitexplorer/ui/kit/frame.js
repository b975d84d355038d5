// What every room has around its stage, see `shell/frame.py`: written into the parts that the component's markup has.

import {filled, make, refill, setText} from './dom.js';
import {labelled} from './punctuation.js';

/**
 * @typedef {object} Frame
 * @property {string} question
 * @property {string} reading
 * @property {string} misleads
 * @property {string} paper
 * @property {string} paper_url
 * @property {string} python
 * @property {string} next
 * @property {string} next_room
 * @property {{label: string, value: string}[]} [facts] what a caption says
 * @property {Record<string, string>} words
 */

/**
 * Another room is opened by whoever owns the rooms.
 *
 * @param {HTMLButtonElement} button
 * @param {string} label
 * @param {string} room empty where there is no next one
 */
export function leadTo(button, label, room) {
  setText(button, label);
  button.hidden = !room;
  button.onclick = () => button.dispatchEvent(new CustomEvent('vx-room', {bubbles: true, detail: {room}}));
}

/**
 * @param {HTMLElement} root with the class `vx-frame`
 * @param {Frame} frame
 */
export function showHead(root, {question, reading}) {
  setText(root.querySelector('.question'), question);
  setText(root.querySelector('.reading'), reading);
}

/** What a picture is saved as, by the name that whoever saves it is given. */
const LABELS = {png2: 'PNG 2×', png4: 'PNG 4×', svg: 'SVG', csv: 'CSV'};
export const FORMATS = Object.keys(LABELS);

/**
 * What stands beside the stage: when it misleads and its source, the way on, and, folded until it is wanted, what a
 * person takes home. The numbers are a table too, for those who do not see the picture.
 *
 * @param {HTMLElement} root with the class `vx-frame`
 * @param {(format: string) => void} [save]
 * @param {() => Promise<Node[]> | Node[] | null} [table] what stands for the numbers, made while somebody looks; null for
 *   none at the moment
 */
export function newAside(root, save, table) {
  const part = (selector) => root.querySelector(selector);
  const trap = make('b'), says = make('span', {dataset: {explain: ''}}), source = make('a', {target: '_blank', rel: 'noopener'});
  const title = make('summary'), files = make('div', {className: 'save', role: 'group'}), python = make('pre', {className: 'python', tabIndex: 0});
  const heading = make('summary'), place = make('div', {className: 'table', tabIndex: 0, role: 'region'});
  const numbers = make('details', {className: 'vx-table'}, heading, place), caption = make('dl', {className: 'facts'});
  part('.misleads').append(trap, ' ', says, ' ', source);
  part('.more').append(title, files, numbers, python, caption);
  let turn = 0;

  async function write() {
    const mine = ++turn, made = numbers.open ? await table() : null;
    if (made && mine === turn) place.replaceChildren(...made);
  }

  numbers.addEventListener('toggle', write);
  return {
    /**
     * @param {Frame} frame
     * @param {string[]} formats that there are at the moment; with numbers to look at where csv is one
     */
    show(frame, formats = []) {
      const {words, misleads, paper, facts = []} = frame;
      setText(trap, labelled(words.misleads, ''));
      setText(says, misleads);
      setText(source, paper);
      source.href = frame.paper_url;
      source.hidden = !paper;
      part('.misleads').hidden = !misleads;
      leadTo(part('.next'), frame.next, frame.next_room);
      part('.more').hidden = !formats.length && !frame.python;
      setText(title, words.more);
      files.setAttribute('aria-label', words.save);
      refill(files, ...formats.map((format) => make('button', {
        type: 'button', textContent: LABELS[format], ariaLabel: filled(words.save_as, {format: LABELS[format]}),
        dataset: {format}, onclick: () => save(format),
      })));
      setText(heading, words.table);
      place.setAttribute('aria-label', words.table);
      numbers.hidden = !formats.includes('csv');
      setText(python, frame.python);
      caption.replaceChildren(...facts.flatMap(({label, value}) => [make('dt', {}, label), make('dd', {}, value)]));
      write();
    },
    /** The numbers have become others. */
    write,
  };
}
