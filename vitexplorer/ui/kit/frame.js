// Frame around the stage of every room, see `shell/frame.py`: it fills the parts of the component's markup.

import {filled, make, refill, setText} from './dom.js';
import {labelled} from './formats.js';

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
 * @property {{label: string, value: string}[]} [facts] facts of the caption
 * @property {Record<string, string>} words
 */

/**
 * Makes a button open another room: it fires `vx-room`, to which the rail listens.
 *
 * @param {HTMLButtonElement} button
 * @param {string} label
 * @param {string} room key of the room; empty to hide the button
 */
export function leadTo(button, label, room) {
  setText(button, label);
  button.hidden = !room;
  button.onclick = () => button.dispatchEvent(new CustomEvent('vx-room', {bubbles: true, detail: {room}}));
}

/**
 * @param {HTMLElement} root element with the class `vx-frame`
 * @param {Frame} frame
 */
export function showHead(root, {question, reading}) {
  setText(root.querySelector('.question'), question);
  setText(root.querySelector('.reading'), reading);
}

/** Labels of the file formats by the names that `save` receives. */
const LABELS = {png2: 'PNG 2×', png4: 'PNG 4×', svg: 'SVG', csv: 'CSV'};
export const FORMATS = Object.keys(LABELS);

/**
 * Makes the column beside the stage: when the view misleads with its paper, the button to the next room, and a folded
 * part with files, a table of the numbers for screen readers, lines of Python and the caption.
 *
 * @param {HTMLElement} root element with the class `vx-frame`
 * @param {(format: string) => void} [save]
 * @param {() => Promise<Node[]> | Node[] | null} [table] makes the table, called while it is unfolded; null if there
 *   are no numbers at the moment
 */
export function newAside(root, save, table) {
  const part = (selector) => root.querySelector(selector);
  const trap = make('b');
  const says = make('span', {dataset: {explain: ''}});
  const source = make('a', {target: '_blank', rel: 'noopener'});
  const title = make('summary');
  const files = make('div.save', {role: 'group'});
  const python = make('pre.python', {tabIndex: 0});
  const heading = make('summary');
  const place = make('div.table', {tabIndex: 0, role: 'region'});
  const numbers = make('details.vx-table', heading, place);
  const caption = make('dl.facts');
  part('.misleads').append(trap, ' ', says, ' ', source);
  part('.more').append(title, files, numbers, python, caption);
  let writes = 0;

  async function write() {
    const own = ++writes;
    const nodes = numbers.open ? await table() : null;
    if (nodes && own === writes) place.replaceChildren(...nodes);
  }

  numbers.addEventListener('toggle', write);
  return {
    /**
     * @param {Frame} frame
     * @param {string[]} formats formats available at the moment; the table is offered if csv is one of them
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
      refill(
        files,
        ...formats.map((format) =>
          make(
            'button',
            {
              ariaLabel: filled(words.save_as, {format: LABELS[format]}),
              dataset: {format},
              onclick: () => save(format),
            },
            LABELS[format],
          ),
        ),
      );
      setText(heading, words.table);
      place.setAttribute('aria-label', words.table);
      numbers.hidden = !formats.includes('csv');
      setText(python, frame.python);
      caption.replaceChildren(...facts.flatMap(({label, value}) => [make('dt', label), make('dd', value)]));
      write();
    },
    /** Updates the table after its numbers have changed. */
    write,
  };
}
