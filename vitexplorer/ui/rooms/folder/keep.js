// Download of the chosen rows.

import {setText} from '../../kit/dom.js';
import {fileName, saveFile} from '../../kit/saving.js';
import {askFile} from './server.js';

/**
 * @param {HTMLElement} root with a button for each format
 * @param {() => {asked: Record<string, string>, title: string, words: Record<string, string>}} now returns the choice
 * @param {(sentence: string) => void} complain
 */
export function keeping(root, now, complain) {
  const buttons = [...root.querySelectorAll('button')];
  const name = root.querySelector('span');

  async function keep(format) {
    const {asked, title, words} = now();
    for (const button of buttons) button.disabled = true;
    setText(name, words.keep_working);
    const answer = await askFile('rows', {...asked, as: format});
    for (const button of buttons) button.disabled = false;
    setText(name, words.keep_rows);
    complain(answer ? (answer.refused ?? '') : words.survey_lost);
    if (answer?.file) saveFile(answer.file, fileName(['survey', title, asked.where ? words.keep_part : ''], format));
  }

  for (const button of buttons) button.addEventListener('click', () => keep(button.dataset.as));
  return {
    show() {
      setText(name, now().words.keep_rows);
      root.hidden = false;
    },
    /** Call after another survey was opened. */
    forget() {
      root.hidden = true;
    },
  };
}
