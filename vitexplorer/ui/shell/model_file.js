// A model from a file of a person's own: chosen, dropped on the page or named by its path; how far it is, and why not.

import {filled, make, setText} from '../kit/dom.js';
import {isOfModel, sendModel} from '../kit/sending.js';

/**
 * @param {object} chip
 * @param {HTMLElement} chip.root
 * @param {HTMLElement} chip.sheet
 * @param {() => any} chip.value
 * @param {(model: string) => void} chip.choose
 */
export function modelFile({root, sheet, value, choose}) {
  const part = (selector) => root.querySelector(`.own ${selector}`);
  const work = part('.work'), bar = part('progress'), several = part('.several');
  let stop = () => {}, latest = 0;  // number of what was opened last: an earlier one that ends late is not wanted

  function say(sentence) {
    setText(part('.alert'), sentence);
    if (sentence && !sheet.matches(':popover-open')) sheet.showPopover();
    if (sentence) part('.alert').scrollIntoView({block: 'nearest'});
  }

  /**
   * @param {string} name
   * @param {{share?: number | null, doing?: string, sending?: number}} step
   */
  function show(name, {sending, share, doing}) {
    const percent = Math.floor(100 * (sending ?? 0));
    setText(part('.doing'), doing ?? filled(value().words.file_sending, {file: name, share: percent}));
    const known = doing ? share : sending;
    if (known === null || known === undefined) bar.removeAttribute('value');
    else bar.value = known;
  }

  /**
   * @param {File[]} files
   * @param {Record<string, string>} asked
   * @param {string} name of what is opened, for a person
   */
  async function open(files, asked, name) {
    const mine = ++latest, {words} = value();
    stop();
    say('');
    several.replaceChildren();
    work.hidden = false;
    if (!sheet.matches(':popover-open')) sheet.showPopover();
    show(name, {sending: 0});
    const sent = sendModel(files, asked, (step) => { if (mine === latest) show(name, step); });
    stop = sent.stop;
    const answer = await sent.opened;
    if (mine !== latest) return;
    work.hidden = true;
    if (answer.several?.length) {
      say(answer.refused ?? '');
      several.replaceChildren(...answer.several.map((one) => make('button', {
        type: 'button', textContent: one.title, onclick: () => pick(String(answer.model), one.name, name),
      })));
    } else if (answer.model) choose(answer.model);
    else if ('refused' in answer || 'error' in answer) say(answer.refused || answer.error || words.file_lost);
  }

  function pick(model, chosen, name) {
    several.replaceChildren();
    say('');
    if (chosen) open([], {model, as: chosen}, name);
    else choose(model);
  }

  /** @param {File[]} files that were chosen or dropped together */
  function take(files) {
    const {kinds, most, words, name, weights} = value();
    const wrong = files.find((file) => !kinds.some((kind) => file.name.toLowerCase().endsWith(kind)));
    if (!files.length) return;
    several.replaceChildren();
    if (wrong) say(filled(isOfModel(wrong) ? words.file_unsafe : words.file_unknown, {file: wrong.name, kinds: kinds.join(', ')}));
    else if (files.reduce((sum, {size}) => sum + size, 0) > most * 1e6) say(filled(words.file_large, {file: files[0].name, most}));
    else open(files, {model: name, weights}, files[0].name);
  }

  const input = part('.file');
  input.addEventListener('change', () => {
    take([...input.files]);
    input.value = '';
  });
  part('.stop').addEventListener('click', () => stop());
  // What is dropped elsewhere than here may be a picture, or for a room that takes files of its own.
  document.addEventListener('drop', (event) => {
    const files = [...event.dataTransfer.files];
    if (!value()?.takes_drops || event.target.closest?.('input, [data-takes-files]') || !files.some(isOfModel)) return;
    event.preventDefault();
    take(files);
  });

  return {
    /** @param {string} path of the machine that serves the page */
    openPath: (path) => open([], {model: value().name, weights: value().weights, path}, path),
    /** What Python says. */
    update() {
      const {words, kinds, named, most} = value();
      setText(part('.open'), words.file_open);
      setText(part('.kinds'), filled(named ? words.file_kinds : words.file_kinds_hosted, {most}));
      setText(part('.stop'), words.file_stop);
      input.accept = kinds.join(',');
    },
  };
}
