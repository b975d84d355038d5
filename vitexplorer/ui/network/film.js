// Film of the pass: the browser's own recorder takes every frame of one run.

import {fileName, saveFile} from '../kit/saving.js';

const SCALE = 1.5; // pixels of the film per CSS pixel
const RATE = 30;
const TYPES = ['video/mp4', 'video/webm']; // the first one that the browser writes; slides play MP4
const HOLD = 1200; // ms that the whole picture stays at the end

/**
 * @param {HTMLButtonElement} button hidden where the browser has no recorder
 * @param {object} hears
 * @param {(target: HTMLCanvasElement, scale: number) => void} hears.paint
 * @param {() => void} hears.run runs the pass from here
 * @param {() => boolean} hears.isRunning
 * @param {() => string} hears.name
 */
export function newFilm(button, {paint, run, isRunning, name}) {
  const mimeType = TYPES.find((type) => globalThis.MediaRecorder?.isTypeSupported?.(type)) ?? '';
  button.hidden = !mimeType;
  let [still, busy] = ['', ''];

  async function record() {
    const canvas = document.createElement('canvas');
    paint(canvas, SCALE);
    const recorder = new MediaRecorder(canvas.captureStream(RATE), {mimeType, videoBitsPerSecond: 6e6});
    const pieces = [];
    recorder.ondataavailable = ({data}) => pieces.push(data);
    const done = new Promise((resolve) => {
      recorder.onstop = resolve;
    });
    recorder.start();
    run();
    const until = (isOver) =>
      new Promise((resolve) => {
        const tick = () => {
          paint(canvas, SCALE);
          if (isOver()) resolve(null);
          else requestAnimationFrame(tick);
        };
        tick();
      });
    await until(() => !isRunning());
    const end = performance.now() + HOLD;
    await until(() => performance.now() > end);
    recorder.stop();
    await done;
    saveFile(new Blob(pieces, {type: mimeType}), fileName([name()], mimeType.split('/')[1]));
  }

  button.onclick = async () => {
    button.disabled = true;
    button.textContent = busy;
    await record().catch((error) => console.warn('network film:', error));
    button.disabled = false;
    button.textContent = still;
  };
  return {
    label(name, whileFilming) {
      [still, busy] = [name, whileFilming];
      if (!button.disabled) button.textContent = still;
    },
  };
}
