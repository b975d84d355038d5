// What every room has around its stage, see `parts/frame.py`: written into the parts that the component's markup has.

import {setText} from './dom.js';

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
 * Source and lines of Python, folded.
 *
 * @param {HTMLElement} card
 * @param {Pick<Frame, 'words' | 'paper' | 'paper_url' | 'python'>} frame
 */
export function fold(card, {words, paper, paper_url: url, python}) {
  setText(card.querySelector('summary'), words.more);
  const link = card.querySelector('.paper');
  setText(card.querySelector('.source'), paper && words.paper);
  setText(link, paper);
  link.href = url;
  link.hidden = !paper;
  setText(card.querySelector('pre'), python);
}

/**
 * @param {HTMLElement} root with the class `vx-frame`
 * @param {Frame} frame
 */
export function showFrame(root, frame) {
  const part = (selector) => root.querySelector(selector);
  setText(part('.question'), frame.question);
  setText(part('.reading'), frame.reading);
  setText(part('.misleads'), frame.misleads);
  part('.misleads').hidden = !frame.misleads;
  leadTo(part('.next'), frame.next, frame.next_room);
  fold(part('.more'), frame);
}
