// Controls around the picture: made once, updated for each state; they call `change` with a person's choice.

import {make, refill, setText} from '../kit/dom.js';
import {FORMATS} from '../kit/frame.js';
import {percent, say, tokenText} from './captions.js';
import {COLORMAPS} from './colours.js';
import {FUSIONS} from './maps.js';
import {MEAN, PADDING} from './payload.js';
import {paintThumb} from './picture.js';
import {isSilent, queryCode, queryText} from './queries.js';
import {MODES, PASSES, SCALES} from './selection.js';

const WIDEST = 9; // most thumbnails side by side

/** Number of thumbnails side by side that fills all rows. */
const acrossFor = (count) => Math.max(4, Math.ceil(count / Math.ceil(count / WIDEST)));

const part = (className, ...children) => make('span', {className}, ...children);

/**
 * @param {HTMLElement} root
 * @param {ReturnType<typeof import('../kit/frame.js').newAside>} aside
 * @param {(changes: Record<string, any>) => void} change
 */
export function newControls(root, aside, change) {
  const find = (selector) => root.querySelector(selector);
  const own = Math.random().toString(36).slice(2);
  const view = find('.view');
  const strip = find('.heads');
  const ofHeads = find('.of-heads');
  const from = find('.from .buttons');
  const masses = find('.masses');
  const colormap = find('.colormap');
  const opacity = find('.opacity');
  const keep = find('.keep');
  const smooth = find('.smooth');
  let thumbs = [];
  let bars = [];

  function radio(name, value, field) {
    const input = make('input', {type: 'radio', name: `${name}-${own}`, value});
    input.addEventListener('change', () => change({[field]: input.value}));
    return input;
  }

  function segments(selector, field, values, wordOf) {
    for (const value of values) {
      const text = make('span', {dataset: {word: wordOf(value)}});
      find(selector).append(make('label.segment', radio(selector, value, field), text));
    }
  }

  segments('.fusion', 'head', Object.keys(FUSIONS), (how) => how);
  segments('.mode', 'mode', MODES, (mode) => `mode_${mode}`);
  segments('.limit', 'scale', SCALES, (scale) => `scale_${scale}`);
  segments('.sharpen', 'sharpen', PASSES, (passes) => `sharpen_${passes}`);
  colormap.append(...Object.keys(COLORMAPS).map((name) => make('option', {value: name, dataset: {word: name}})));
  colormap.addEventListener('change', () => change({colormap: colormap.value}));
  smooth.addEventListener('change', () => change({smooth: smooth.checked}));
  opacity.addEventListener('input', () => change({opacity: opacity.value / 100}));
  keep.addEventListener('input', () => change({keep_mass: keep.value / 100}));
  find('.help').id = `help-${own}`;
  view.setAttribute('aria-describedby', `help-${own}`);

  /** Rebuilds the parts that depend on the value: texts, heads, prefix tokens. */
  function prepare(value, payload) {
    const {words} = value;
    for (const node of root.querySelectorAll('[data-word]')) setText(node, say(words, node.dataset.word));
    for (const node of root.querySelectorAll('[data-label]'))
      node.setAttribute('aria-label', say(words, node.dataset.label));
    setText(find('.picture .empty'), say(words, 'empty'));
    setText(find('.warning'), value.warning);
    root.classList.toggle('compact', Boolean(value.run));
    aside.show(value, FORMATS);
    if (!payload) return;

    const alone = value.heads === 1;
    ofHeads.hidden = alone && !value.walks;
    strip.hidden = find('.fusion').hidden = alone;
    setText(find('.of-block'), say(words, alone ? 'only_block' : 'of_block', {block: value.block}));
    find('.sharpen').hidden = find('.sharpened').hidden = !value.sharpened;
    find('.blocks').hidden = !value.walks;
    find('.before').disabled = value.block === 0;
    find('.after').disabled = value.block === value.depth - 1;
    if (thumbs.length !== value.heads + 1) {
      thumbs = Array.from({length: value.heads + 1}, (_, i) => {
        const input = radio('heads', i - 1, 'head');
        const canvas = make('canvas');
        const name = part('name');
        const peak = part('peak');
        const tile = part('tile', canvas, part('here'));
        return {input, canvas, name, peak, node: make('label.thumb', input, tile, name, peak)};
      });
      strip.replaceChildren(...thumbs.map((thumb) => thumb.node));
      strip.style.setProperty('--across', String(acrossFor(thumbs.length)));
    }
    const tokens = ['cls', 'dist'].filter((name) => value.prefix.includes(name)).map((name) => queryCode(value, name));
    const codes = [...tokens, MEAN].filter((code) => !isSilent(value, code));
    refill(
      from,
      ...codes.map((code) => {
        const button = make('button', {value: queryText(value, code)}, tokenText(value, code));
        button.addEventListener('click', () => change({query: button.value}));
        return button;
      }),
    );
    const onPrefix = value.prefix.map((_, i) => tokenText(value, -1 - i)).filter((_, i) => payload.prefixKeys[i]);
    const names = [say(words, 'patches'), ...onPrefix];
    if (payload.positions.includes(PADDING)) names.push(say(words, 'padding'));
    bars = names.map((name) => {
      const fill = part('fill');
      const number = part('number');
      return {fill, number, node: make('li', part('name', name), part('track', fill), number)};
    });
    masses.replaceChildren(...bars.map((bar) => bar.node));
  }

  function mark(selector, chosen) {
    for (const input of find(selector).querySelectorAll('input')) input.checked = input.value === chosen;
  }

  /** Sets the state of every control; `query` is the one to which the canvas returns, `painted` the colours in use. */
  function show(value, state, query, painted) {
    const fused = typeof state.head !== 'number';
    const choices = [
      ['.fusion', fused ? state.head : null],
      ['.mode', state.mode],
      ['.limit', state.scale],
    ];
    for (const [selector, chosen] of choices) mark(selector, chosen);
    colormap.value = state.colormap;
    colormap.disabled = state.mode === 'reveal' || painted !== state.colormap;
    smooth.checked = state.smooth;
    opacity.value = Math.round(100 * state.opacity);
    opacity.disabled = state.mode === 'map';
    keep.value = Math.round(100 * state.keep_mass);
    setText(opacity.nextElementSibling, `${opacity.value}\u202f%`);
    setText(keep.nextElementSibling, state.keep_mass >= 1 ? say(value.words, 'keep_all') : `${keep.value}\u202f%`);
    thumbs.forEach(({input, name, node}, i) => {
      input.value = i === 0 ? state.fusion : i - 1;
      input.checked = i === 0 ? fused : state.head === i - 1;
      node.classList.toggle('chosen', input.checked);
      setText(name, i === 0 ? say(value.words, state.fusion) : say(value.words, 'head', {head: i - 1}));
    });
    for (const button of from.children) {
      button.setAttribute('aria-pressed', String(queryCode(value, button.value) === query));
    }
  }

  /**
   * Draws the map of every head for the query, the fused map first, each with its largest share below. The query's
   * frame lies on the whole grid of the keys, or on its window where queries and keys are the same patches.
   */
  function showHeads(value, maps, state, mask, top, window, query, grids, painted) {
    const {keys, queries} = grids;
    const rows = window ? window.rows : keys.rows;
    const cols = window ? window.cols : keys.cols;
    const cell = query < 0 || (window && value.keys) ? -1 : window ? window.local.indexOf(query) : query;
    const from = window ? window : queries;
    const [down, across] = window
      ? [1 / rows, 1 / cols]
      : [queries.high / keys.high / rows, queries.wide / keys.wide / cols];
    strip.style.setProperty('--aspect', `${cols} / ${rows}`);
    strip.style.setProperty('--x', `${100 * (cell % from.cols) * across}%`);
    strip.style.setProperty('--y', `${100 * Math.floor(cell / from.cols) * down}%`);
    strip.style.setProperty('--w', `${100 * across}%`);
    strip.style.setProperty('--h', `${100 * down}%`);
    strip.classList.toggle('patch-query', cell >= 0);
    maps.forEach((head, i) => {
      const limit = state.scale === 'map' ? head.peak : top;
      paintThumb(thumbs[i].canvas, head.map, mask(head.map), limit, painted, keys.rows, keys.cols, window);
      const many = value.heads > 6;
      const words = many || value.run ? 'peak_short' : 'peak'; // narrow texts where two canvases stand side by side
      setText(thumbs[i].peak, say(value.words, words, {value: percent(head.max, many ? 2 : 3)}));
    });
  }

  /** Draws the shares of the map on patches, on each prefix token and on padding. */
  function showMasses(shares) {
    shares.forEach((share, i) => {
      bars[i].fill.style.transform = `scaleX(${Math.min(1, share)})`;
      setText(bars[i].number, percent(share));
    });
  }

  /**
   * Marks the passes, and writes how far a sharpened map has come, or why it goes no further: the server's sentence, or
   * that it is away.
   */
  function showSharpened(value, {done, of, problem}) {
    mark('.sharpen', String(of));
    const key = problem === '' ? 'sharpen_lost' : done < of ? 'sharpening' : 'note_sharpen';
    setText(find('.sharpened'), problem || (of > 1 ? say(value.words, key, {passes: done, of}) : ''));
  }

  return {
    prepare,
    show,
    showSharpened,
    showHeads,
    showMasses,
    numBars: () => bars.length,
    headMaps: () => thumbs.map(({canvas}) => canvas),
  };
}
