// The room Words, for a model that writes captions: its sentence word by word, and the patches of the chosen word by
// several readings side by side.

import {fetchImage, newFetcher} from '../../canvas/fetching.js';
import {cellAt, gridOf} from '../../canvas/grids.js';
import {newPainter} from '../../canvas/picture.js';
import {firstState} from '../../canvas/selection.js';
import {hearDisplay, takeDisplay} from '../../canvas/sharing.js';
import {goTo, inAddress, writeAddress} from '../../kit/address.js';
import {filled, make, refill, setText, table} from '../../kit/dom.js';
import {measured, percent} from '../../kit/formats.js';
import {newAside, showHead} from '../../kit/frame.js';
import {grow, newBlending} from '../../kit/motion.js';
import {csvFile, fileName, saveFile} from '../../kit/saving.js';

const STEP = 160; // ms from one word to the next as the sentence appears

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  const {fetchBytes} = newFetcher();
  const aside = newAside(root, save, () => (maps.length ? [numbersTable()] : null));
  const display = firstState();
  let value = /** @type {any} */ (null);
  let image = /** @type {HTMLImageElement | null} */ (null);
  let maps = /** @type {Float32Array[][]} */ ([]); // of each reading and word
  let figures = /** @type {{view: HTMLCanvasElement, number: HTMLElement, paint: Function}[]} */ ([]);
  let word = 0;
  let hover = /** @type {import('../../canvas/grids.js').Place | null} */ (null);
  let frame = 0;
  let sequence = 0;
  let filling = 0;

  const blending = newBlending(schedule);
  const grid = () => gridOf(value, image, 'keys');
  const hasPlace = () => value.caption_words[word]?.has_place;

  // ------------------------------------------------------------------------------------ painting

  function schedule() {
    if (!frame) frame = requestAnimationFrame(repaint);
  }

  function repaint() {
    frame = 0;
    const cell = hover ? cellAt(grid(), hover) : null;
    figures.forEach(({view, number, paint}, reading) => {
      if (!view.clientWidth || !image) return;
      const map = hasPlace() ? maps[reading][word] : new Float32Array(value.rows * value.cols);
      paint(view, {width: view.clientWidth, height: view.clientHeight}, sceneOf(map, cell));
      const at = cell === null || !hasPlace() ? '' : {...placeOf(cell), number: measured(map[cell])};
      setText(number, at ? filled(value.words.at_patch_number, at) : value.readings[reading].unit);
    });
    blending.over();
    root.dataset.word = String(word + 1);
  }

  const placeOf = (patch) => ({row: Math.floor(patch / value.cols), col: patch % value.cols});

  /** @returns {import('../../canvas/picture.js').Scene} */
  const sceneOf = (map, cell) => ({
    image,
    grid: grid(),
    map,
    mask: null,
    fine: null,
    window: null,
    top: Math.max(...map) || 1,
    mode: display.mode,
    colormap: display.colormap,
    opacity: display.opacity,
    smooth: display.smooth,
    frames: cell === null ? [] : [{grid: grid(), cell, role: 'key'}],
  });

  // ------------------------------------------------------------------------------------ the sentence

  function choose(chosen, isHeld) {
    if (chosen !== word) {
      blending.from(figures.map(({view}) => view));
      word = chosen;
      [...part('.sentence').children].forEach((button, at) => {
        button.ariaPressed = String(at === word);
      });
      showWord();
    }
    if (isHeld) writeAddress({text: word ? String(word + 1) : ''});
  }

  function showWord() {
    const {caption_words: all, words} = value;
    const chosen = all[word];
    const sentence = chosen?.has_place ? words.from_here : words.no_place;
    setText(part('.word-note'), chosen ? filled(sentence, {word: chosen.text, share: percent(chosen.share)}) : '');
    schedule();
  }

  function showSentence() {
    const buttons = value.caption_words.map(({text, share, has_place}, at) =>
      make(
        has_place ? 'button' : 'button.little',
        {
          ariaPressed: String(at === word),
          onclick: () => choose(at, true),
          onfocus: () => choose(at, false),
          onpointerenter: (event) => event.pointerType === 'mouse' && choose(at, false),
        },
        text,
        make('small', percent(share)),
      ),
    );
    refill(part('.sentence'), ...buttons);
    grow((share) => {
      buttons.forEach((button, at) => {
        button.classList.toggle('ahead', at >= share * buttons.length);
      });
    }, STEP * buttons.length);
  }

  function showReadings() {
    figures = value.readings.map(() => ({
      view: make('canvas', {role: 'img'}),
      number: make('span.unit'),
      paint: newPainter(),
    }));
    refill(
      part('.readings'),
      ...figures.map(({view, number}, at) => {
        const {title, says} = value.readings[at];
        view.ariaLabel = title;
        view.addEventListener('pointermove', (event) => {
          const box = view.getBoundingClientRect();
          hover = {x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height};
          schedule();
        });
        view.addEventListener('pointerleave', () => {
          hover = null;
          schedule();
        });
        return make('figure', view, make('figcaption', make('b', title), number, make('span.says', says)));
      }),
    );
  }

  // ------------------------------------------------------------------------------------ files

  const rowsOf = () =>
    value.caption_words.flatMap(({text, share}, at) =>
      value.readings.map(({title}, reading) => ({text, share, title, map: maps[reading][at]})),
    );

  function save() {
    const lines = rowsOf().map(({text, share, title, map}) => [`"${text}"`, share, `"${title}"`, ...map].join(','));
    const patches = [...Array(value.rows * value.cols).keys()].map((patch) => Object.values(placeOf(patch)).join(' '));
    const text = `${['word,probability,reading', ...patches].join(',')}\n${lines.join('\n')}\n`;
    saveFile(csvFile(text), fileName([value.saved_as], 'csv'));
  }

  function numbersTable() {
    const {words} = value;
    const lines = rowsOf().map(({text, share, title, map}) => {
      const most = map.indexOf(Math.max(...map));
      return [
        text,
        percent(share),
        title,
        filled(words.at_patch_number, {...placeOf(most), number: measured(map[most])}),
      ];
    });
    return table(value.question, [words.word, words.share, words.reading, words.most], lines);
  }

  // ------------------------------------------------------------------------------------ values from Python

  async function load(next) {
    const mine = ++sequence;
    const [bytes, picture] = await Promise.all([fetchBytes(next.numbers.url), fetchImage(next.image.url)]);
    if (mine !== sequence) return;
    [value, image] = [next, picture];
    const {words, rows, cols, caption_words: all, readings, languages} = value;
    const map = (at) => new Float32Array(bytes, 4 * at * rows * cols, rows * cols);
    maps = readings.map((_, reading) => all.map((_, at) => map(reading * all.length + at)));
    const named = Number(inAddress('text')) - 1;
    word = all[named]
      ? named
      : Math.max(
          0,
          all.findIndex(({has_place}) => has_place),
        );
    root.style.setProperty('--aspect', String(image.naturalWidth / image.naturalHeight));
    takeDisplay(display);
    showHead(root, value);
    aside.show(value, ['csv']);
    setText(part('.languages h3'), words.language);
    refill(
      part('.languages .row'),
      ...languages.map(({key, title}) =>
        make(
          'button',
          {ariaPressed: String(key === value.language), onclick: () => trigger('ask', {what: key})},
          title,
        ),
      ),
    );
    refill(
      part('.offers'),
      ...value.offers.map(({title, address}) => make('button.offer', {onclick: () => goTo(address)}, title)),
    );
    part('.sentence').ariaLabel = words.sentence;
    root.dataset.state = 'ready';
    showSentence();
    showReadings();
    showWord();
  }

  hearDisplay(root, display, schedule);
  new ResizeObserver(schedule).observe(part('.readings'));

  return () => {
    const next = props.value;
    if (!next || next.filled === filling) return; // sent again at the end of its event
    filling = next.filled;
    if (next.numbers) load(next).catch((error) => console.warn('captions:', error));
    else {
      sequence += 1;
      root.dataset.state = 'empty';
    }
  };
}
