// Leaderboard, wrong images and downloads. Pressing a row chooses its run; an image opens in the other rooms.

import {enterRoom, goTo} from '../../kit/address.js';
import {filled, make, refill, showSentence} from '../../kit/dom.js';
import {cameFrom} from '../../kit/notices.js';

const cells = (texts) => texts.map((text) => make('td', text));

/**
 * @param {any} value `ResultsData`
 * @param {(run: string) => void} choose
 */
function table({rows, metric, baseline, constant, chosen, words}, choose) {
  const head = ['', words.board_method, metric, words.board_trainable, words.board_time, words.board_file];
  const body = rows.map(({run, title, place, note, value, trainable, time, file}) => {
    const attributes = {'aria-pressed': String(run === chosen)};
    const name = make('button.run', {onclick: () => choose(run), title: run, attributes}, title);
    const notes = note ? [make('small', note)] : [];
    return make(
      'tr',
      {className: run === chosen ? 'chosen-row' : '', dataset: {run}},
      ...cells([place]),
      make('td', name, ...notes),
      ...cells([value, trainable, time, file]),
    );
  });
  const plain = [
    [words.board_baseline, baseline],
    [words.board_constant, constant],
  ]
    .filter(([, figure]) => figure)
    .map(([name, figure]) => make('tr.plain', ...cells(['', name, figure, '', '', ''])));
  const headings = head.map((text) => make('th', {scope: 'col'}, text));
  return make('table', make('thead', make('tr', ...headings)), make('tbody', ...body, ...plain));
}

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  let shown = null; // the last value with results; values with progress or a refusal hold nothing else
  let opening = ''; // note on the image that is being opened
  let fetched = ''; // address of the last downloaded file

  function image({index, image: file, label}) {
    const open = () => {
      opening = filled(shown.words.board_came, {run: shown.chosen_title, label});
      trigger('open', {run: shown.chosen, index});
    };
    return make(
      'button',
      {title: label, disabled: !shown.opens, dataset: {index}, onclick: open},
      make('img', {src: file.url, alt: ''}),
      make('span', label),
    );
  }

  function fetchFile(what) {
    part('.working').textContent = shown.words.board_preparing;
    part('.refused').hidden = true;
    trigger('fetch', {run: shown.chosen, what});
  }

  const button = (text, options) => make('button', options, text);

  function buttons({chosen: run, opens, beside, files, words}) {
    const rooms = opens
      ? [
          button(words.board_open, {
            className: 'open primary',
            onclick: () => {
              opening = '';
              trigger('open', {run});
            },
          }),
          button(words.board_compare, {className: 'compare', onclick: () => goTo(beside)}),
          button(words.board_changed, {className: 'changed', onclick: () => trigger('changed', {run})}),
        ]
      : [];
    const home = files.map(({what, label}) => button(label, {dataset: {what}, onclick: () => fetchFile(what)}));
    return [...rooms, make('span', words.board_downloads), ...home];
  }

  function showAnswer({working, refused, download: file}) {
    part('.working').textContent = working;
    showSentence(part('.refused'), refused);
    if (!file || file.url === fetched) return;
    fetched = file.url;
    make('a', {href: file.url, download: file.name}).click();
  }

  function showResults(value) {
    const {words, verdicts} = value;
    part('h3').textContent = words.board_title;
    refill(
      part('.table'),
      table(value, (run) => trigger('choose', {run})),
    );
    part('.verdicts').replaceChildren(make('h4', words.board_really), ...verdicts.map((text) => make('p', text)));
    part('.chosen h3').textContent = filled(words.board_chosen, {run: value.chosen_title});
    refill(part('.buttons'), ...buttons(value));
    part('.wrong-title').textContent = value.wrong_title;
    refill(part('.wrong'), ...value.wrong.map(image));
  }

  function show() {
    const value = props.value;
    if (!value) return;
    showAnswer(value);
    if (!value.words?.board_title) return;
    shown = value;
    fetched = '';
    root.hidden = !value.rows.length;
    root.dataset.state = value.rows.length ? 'ready' : 'empty';
    root.dataset.rows = value.rows.length;
    if (value.rows.length) showResults(value);
  }

  document.addEventListener('vx-opened', () => {
    if (opening) cameFrom(opening, shown.words, () => enterRoom('finetune'));
    opening = '';
  });
  return show;
}
