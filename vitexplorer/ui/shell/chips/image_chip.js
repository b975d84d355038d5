// Image chip: the current image, and ways to another: examples, a file, a drop on the page, the clipboard, the webcam.

import {camera} from '../../kit/camera.js';
import {make, onFiles, refill, setText} from '../../kit/dom.js';
import {labelled} from '../../kit/formats.js';
import {isOfModel, sendPicture} from '../../kit/sending.js';
import {readStored, writeStored} from '../../kit/stored.js';
import {chip} from './chip.js';

const NAMES = 'vx-image-names';
const MOST_NAMES = 100;

/**
 * Remembers the file name of an image in this browser; the server knows images by their content alone.
 *
 * @param {string} image
 * @param {string} name
 */
function remember(image, name) {
  const {[image]: _former, ...others} = readStored(NAMES, {});
  writeStored(NAMES, Object.fromEntries([...Object.entries(others), [image, name]].slice(-MOST_NAMES)));
}

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const {sheet, say, close} = chip(root);
  const frame = part('.camera');
  const video = part('video');
  const alert = part('.alert');
  const bar = part('progress');
  let sending = 0; // number of the latest upload; late answers to earlier ones are ignored

  const showError = (sentence) => {
    setText(alert, sentence);
    if (!sheet.matches(':popover-open')) sheet.showPopover();
  };

  function choose(image) {
    setText(alert, '');
    close();
    trigger('choose', {image});
  }

  /**
   * @param {Blob | null | undefined} picture
   * @param {string} [name] name of its file; empty for a picture without one
   */
  async function send(picture, name = '') {
    if (!picture) return showError(props.value.words.image_none);
    const own = ++sending;
    bar.hidden = false;
    const answer = await sendPicture(picture, (share) => {
      bar.value = share;
    });
    if (own !== sending) return;
    bar.hidden = true;
    if ('image' in answer) {
      if (name) remember(answer.image, name);
      choose(answer.image);
      return;
    }
    const reason = answer.refused || props.value.words.image_lost;
    showError(name ? labelled(name, reason) : reason);
  }

  // ---- webcam

  const webcam = camera(video, () => {
    frame.hidden = true;
  });

  part('.webcam').addEventListener('click', async () => {
    setText(alert, '');
    const reason = await webcam.start();
    frame.hidden = Boolean(reason);
    if (reason) showError(props.value.words[reason]);
  });
  part('.take').addEventListener('click', async () => {
    const still = webcam.still();
    webcam.stop();
    send(await still);
  });
  sheet.addEventListener('toggle', (/** @type {ToggleEvent} */ event) => {
    if (event.newState === 'closed') webcam.stop();
  });

  // ---- file, drop, clipboard

  onFiles(part('.file'), ([picture]) => send(picture, picture?.name));
  // Rooms may take files themselves; drops on their file areas are ignored here.
  const isForChip = ({target, dataTransfer}) =>
    props.value?.takes_drops && dataTransfer.types.includes('Files') && !target.closest?.('input, [data-takes-files]');
  document.addEventListener('dragover', (event) => {
    if (!isForChip(event)) return;
    event.preventDefault();
    document.body.classList.add('vx-dropping');
  });
  document.addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) document.body.classList.remove('vx-dropping');
  });
  // also where a room takes the files and lets nobody else hear of it
  document.addEventListener('drop', () => document.body.classList.remove('vx-dropping'), {capture: true});
  document.addEventListener('drop', (event) => {
    if (!isForChip(event) || [...event.dataTransfer.files].some(isOfModel)) return;
    event.preventDefault();
    const [picture] = event.dataTransfer.files;
    send(picture, picture?.name);
  });
  document.addEventListener('paste', (event) => {
    if (!props.value?.takes_drops) return;
    const file = [...event.clipboardData.files].find(({type}) => type.startsWith('image/'));
    if (file) send(file);
    else if (!event.target.closest?.('input, textarea, [contenteditable]')) showError(props.value.words.paste_none);
  });

  // ---- data from Python

  function thumbnail({id, title, image}) {
    return make(
      'button',
      {dataset: {id}, onclick: () => choose(id)},
      make('img', {src: image, alt: '', loading: 'lazy'}),
      title,
    );
  }

  function group({title, items}) {
    return make('section.group', make('h3', title), make('div.row', ...items.map(thumbnail)));
  }

  function show() {
    const value = props.value;
    if (!value) return;
    const {words, groups, chosen, title, note, thumb} = value;
    const names = JSON.stringify(groups.map(({items}) => items.map((item) => item.title)));
    say(words.image, readStored(NAMES, {})[chosen] ?? title, note);
    if (thumb) part('.chip img').src = thumb;
    setText(part('.upload'), words.image_upload);
    setText(part('.webcam'), words.image_webcam);
    setText(part('.take'), words.image_take);
    setText(part('.note'), value.takes_drops ? words.image_drop : '');
    if (root.dataset.names !== names) {
      root.dataset.names = names;
      refill(part('.groups'), ...groups.map(group));
    }
    for (const item of root.querySelectorAll('.row button'))
      item.setAttribute('aria-pressed', String(item.dataset.id === chosen));
    root.dataset.image = chosen;
  }

  return show;
}
