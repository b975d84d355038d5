// Answer of the probe: a bar for each class, and the picture with a map of the model's attention.

import {levelOf, pixelTable, rgbTable} from '../../../canvas/colours.js';
import {fetchImage} from '../../../canvas/fetching.js';
import {interpolate} from '../../../canvas/maps.js';
import {putCells} from '../../../canvas/picture.js';
import {make, refill, setText} from '../../../kit/dom.js';
import {percent} from '../../../kit/formats.js';

/**
 * @param {HTMLElement} root
 * @param {object} does
 * @param {(box: string) => void} does.correct adds the picture to its true class
 * @param {(example: any) => void} does.open opens a wrongly predicted example
 * @param {(image: string) => void} does.ask asks about one of the offered pictures
 */
export function answerView(root, {correct, open, ask}) {
  const part = (selector) => root.querySelector(selector);
  const canvas = part('canvas');
  const image = part('.asked img');
  let painted = ''; // address of the latest answer's picture: earlier pictures that are decoded late are not painted

  function bar({box, name, share}, words, best) {
    return make(
      'li',
      {className: share === best ? 'best' : '', dataset: {box, share: String(share)}},
      make('span.name', {title: name}, name),
      make('span.bar', make('i', {style: {width: `${100 * share}%`}})),
      make('output', percent(share)),
      make('button', {onclick: () => correct(box)}, words.teach_correct.replace('{name}', name)),
    );
  }

  async function paint({image: address, map, reading}) {
    painted = address;
    const picture = await fetchImage(address);
    if (painted !== address) return;
    image.src = address;
    canvas.hidden = part('.scale').hidden = !map;
    if (!map) return;
    paintMap(canvas, picture, map);
    canvas.setAttribute('aria-label', reading);
    setText(part('.high'), most(map.values));
  }

  part('.scale i').style.setProperty('--ramp', ramp());
  setText(part('.low'), '0');

  return {
    /** @param {any} answer */
    async show(answer, words, isLive) {
      const best = Math.max(...answer.shares.map(({share}) => share));
      refill(part('.shares'), ...answer.shares.map((one) => bar(one, words, best)));
      setText(part('.only'), answer.shares.length ? words.teach_only : '');
      setText(part('.doing'), answer.missing ?? '');
      setText(part('.reading'), answer.reading);
      setText(part('.about'), answer.about);
      setText(part('.asked figcaption'), words.teach_asked);
      await paint(answer);
      image.hidden = isLive;
      image.alt = words.teach_asked;
      root.dataset.asked = '';
    },
    /** Clears the answer. */
    clear(doing) {
      painted = '';
      for (const name of ['.reading', '.about', '.only', '.asked figcaption']) setText(part(name), '');
      refill(part('.shares'));
      canvas.hidden = image.hidden = part('.scale').hidden = true;
      setText(part('.doing'), doing);
      delete root.dataset.asked;
    },
    /** @param {{score?: string, wrong?: any[]}} found */
    score({score = '', wrong = []}, words) {
      setText(part('.score p'), score);
      setText(part('.why'), wrong.length ? words.teach_why : '');
      refill(
        part('.score .row'),
        ...wrong.map((one) =>
          make(
            'button.wrong',
            {title: one.label, onclick: () => open(one)},
            make('img', {src: one.thumb, alt: ''}),
            make('span', one.label),
          ),
        ),
      );
    },
    /** @param {{name: string, image: string}[]} others */
    offer(others, words) {
      part('.others').hidden = !others.length;
      setText(part('.others span'), words.teach_others);
      refill(
        part('.others .row'),
        ...others.map(({name, image: address}) =>
          make(
            'button.thumb',
            {title: name, ariaLabel: name, onclick: () => ask(address)},
            make('img', {src: address, alt: ''}),
          ),
        ),
      );
    },
  };
}

const FACTOR = 12; // samples per side of a patch
const OPACITY = 0.7;
const COLORMAP = 'inferno';

/**
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasImageSource & {naturalWidth: number, naturalHeight: number}} picture as the model saw it
 * @param {{rows: number, cols: number, values: number[]}} map shares of attention
 */
function paintMap(canvas, picture, {rows, cols, values}) {
  const pen = canvas.getContext('2d');
  const top = Math.max(...values);
  const [width, height] = [cols * FACTOR, rows * FACTOR];
  const smooth = interpolate(
    Float32Array.from(values),
    undefined,
    rows,
    cols,
    FACTOR,
    new Float32Array(width * height),
  );
  const {levels} = pixelTable('overlay', COLORMAP, OPACITY);
  const layer = putCells(make('canvas'), width, height, (words) => {
    for (let i = 0; i < words.length; i++) words[i] = levels[levelOf(smooth[i], top, COLORMAP)];
  });
  Object.assign(canvas, {width: 2 * picture.naturalWidth, height: 2 * picture.naturalHeight});
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  pen.drawImage(layer, 0, 0, canvas.width, canvas.height);
}

/** Colours from zero to the maximum, as a CSS gradient. */
const ramp = () =>
  rgbTable(COLORMAP)
    .filter((_, i) => i % 15 === 0)
    .map((colour) => `rgb(${colour})`)
    .join(', ');

/** @param {number[]} values */
const most = (values) => percent(Math.max(...values));
