// A person's own model file: chosen, dropped on the page or named by its path, with progress and error messages.

import {enterRoom} from '../../kit/address.js';
import {filled, make, onFiles, setText} from '../../kit/dom.js';
import {cameFrom} from '../../kit/notices.js';
import {isOfModel, sendModel} from '../../kit/sending.js';

/**
 * @param {object} chip
 * @param {HTMLElement} chip.root
 * @param {HTMLElement} chip.sheet
 * @param {() => any} chip.value
 * @param {(model: string) => void} chip.choose
 */
export function modelFile({root, sheet, value, choose}) {
  const part = (selector) => root.querySelector(`.own ${selector}`);
  const work = part('.work');
  const bar = part('progress');
  const several = part('.several');
  let stop = () => {};
  let latest = 0; // number of the latest upload; late answers to earlier ones are ignored

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
    const done = doing ? share : sending;
    if (done === null || done === undefined) bar.removeAttribute('value');
    else bar.value = done;
  }

  /**
   * @param {File[]} files
   * @param {Record<string, string>} request parameters of `/model`
   * @param {string} name name of the file in messages
   */
  async function open(files, request, name) {
    const own = ++latest;
    const {words} = value();
    stop();
    say('');
    several.replaceChildren();
    work.hidden = false;
    if (!sheet.matches(':popover-open')) sheet.showPopover();
    show(name, {sending: 0});
    const upload = sendModel(files, request, (step) => {
      if (own === latest) show(name, step);
    });
    stop = upload.stop;
    const answer = await upload.opened;
    if (own !== latest) return;
    work.hidden = true;
    if (answer.several?.length) {
      say(answer.refused ?? '');
      several.replaceChildren(
        ...answer.several.map((base) =>
          make('button', {onclick: () => pick(String(answer.model), base.name, name)}, base.title),
        ),
      );
    } else if (answer.model) chosen(answer.model, name);
    else if ('refused' in answer || 'error' in answer) say(answer.refused || answer.error || words.file_lost);
  }

  /** Shows the model, and offers a check-up of it. */
  function chosen(model, name) {
    const {words} = value();
    choose(model);
    const offer = {board_back: words.file_check, board_close: words.notice_close};
    cameFrom(filled(words.file_opened, {file: name}), offer, () => enterRoom('check_up'));
  }

  function pick(model, as, name) {
    several.replaceChildren();
    say('');
    if (as) open([], {model, as}, name);
    else chosen(model, name);
  }

  /** @param {File[]} files files that were chosen or dropped together */
  function take(files) {
    const {kinds, most, words, name, weights} = value();
    const wrong = files.find((file) => !kinds.some((kind) => file.name.toLowerCase().endsWith(kind)));
    if (!files.length) return;
    // The weights, not their settings.
    const largest = files.reduce((one, other) => (other.size > one.size ? other : one));
    several.replaceChildren();
    if (wrong)
      say(
        filled(isOfModel(wrong) ? words.file_unsafe : words.file_unknown, {file: wrong.name, kinds: kinds.join(', ')}),
      );
    else if (files.reduce((sum, {size}) => sum + size, 0) > most * 1e6)
      say(filled(words.file_large, {file: largest.name, most}));
    else open(files, {model: name, weights}, largest.name);
  }

  const input = part('.file');
  onFiles(input, take);
  part('.stop').addEventListener('click', () => stop());
  // A drop elsewhere on the page may be an image, or be meant for a room that takes files itself.
  document.addEventListener('drop', (event) => {
    const files = [...event.dataTransfer.files];
    if (!value()?.takes_drops || event.target.closest?.('input, [data-takes-files]') || !files.some(isOfModel)) return;
    event.preventDefault();
    take(files);
  });

  return {
    /** @param {string} path path on the machine that serves the page */
    openPath: (path) => open([], {model: value().name, weights: value().weights, path}, path),
    /** Shows new data from Python. */
    update() {
      const {words, kinds, named, most} = value();
      setText(part('.open'), words.file_open);
      setText(part('.kinds'), filled(named ? words.file_kinds : words.file_kinds_hosted, {most}));
      setText(part('.stop'), words.file_stop);
      input.accept = kinds.join(',');
    },
  };
}
