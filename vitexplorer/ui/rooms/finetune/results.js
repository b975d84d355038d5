// Verdict, leaderboard, wrong images and downloads. A click on a method chooses its run; an image opens in the other
// rooms.

import {enterRoom, goTo} from '../../kit/address.js';
import {filled, make, onFiles, refill, setText, showSentence} from '../../kit/dom.js';
import {percent} from '../../kit/formats.js';
import {cameFrom} from '../../kit/notices.js';
import {sendFiles} from '../../kit/sending.js';

const cells = (texts) => texts.map((text) => make('td', text));

const percentOf = (place) => `${100 * place}%`;

/**
 * Makes a row for each method, which chooses it: a dot for its value, and a bar for its interval.
 *
 * @param {any} value `ResultsData`
 * @param {(run: string) => void} choose
 */
function bars({rows, axis, baseline_at: baseline, chosen, words}, choose) {
  const dashed = () => (baseline === null ? null : make('s', {style: {left: percentOf(baseline)}}));
  const row = ({run, title, value, interval, at, low, high}) =>
    make(
      'button.bar-row',
      {
        onclick: () => choose(run),
        title: run,
        dataset: {run},
        attributes: {'aria-pressed': String(run === chosen)},
        ariaLabel: interval ? filled(words.board_describe, {title, value, interval}) : `${title}: ${value}`,
      },
      make('span.name', title),
      make(
        'span.track',
        dashed(),
        make('i', {style: {left: percentOf(low), width: percentOf(high - low)}}),
        make('b', {style: {left: percentOf(at)}}),
      ),
      make('output', value),
    );
  const scale = make('div.scale', make('span'), make('span', ...axis.map((text) => make('small', text))), make('span'));
  return [...rows.map(row), scale];
}

/**
 * @param {any} value `ResultsData`
 * @param {(run: string) => void} choose
 */
function table({rows, metric, baseline, constant, chosen, words}, choose) {
  const said = (key) => words[`board_${key}`];
  const head = ['', said('method'), metric, said('spread'), said('trainable'), said('time'), said('file')];
  const body = rows.map(({run, title, place, note, value, interval, trainable, time, file}) => {
    const attributes = {'aria-pressed': String(run === chosen)};
    const name = make('button.run', {onclick: () => choose(run), title: run, attributes}, title);
    const notes = note ? [make('small', note)] : [];
    return make(
      'tr',
      {className: run === chosen ? 'chosen-row' : '', dataset: {run}},
      ...cells([place]),
      make('td', name, ...notes),
      ...cells([value, interval, trainable, time, file]),
    );
  });
  const plain = [
    [words.board_baseline, baseline],
    [words.board_constant, constant],
  ]
    .filter(([, figure]) => figure)
    .map(([name, figure]) => make('tr.plain', ...cells(['', name, figure, '', '', '', ''])));
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

  async function predict(files) {
    const {words} = shown;
    showAnswer({working: '', refused: ''});
    const came = await sendFiles(files, (share) =>
      setText(part('.working'), filled(words.board_sending, {share: percent(share)})),
    );
    if (came.files) trigger('predict', came);
    else showAnswer({working: '', refused: came.refused || words.board_lost});
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

  function showAnswer({working, refused, download: file = null}) {
    part('.working').textContent = working;
    showSentence(part('.refused'), refused);
    if (!file || file.url === fetched) return;
    fetched = file.url;
    make('a', {href: file.url, download: file.name}).click();
  }

  function showResults(value) {
    const {words, verdict, verdicts} = value;
    const choose = (run) => trigger('choose', {run});
    part('h3').textContent = value.question;
    part('.verdict').textContent = verdict;
    part('.at-chance').hidden = !value.at_chance;
    setText(part('.at-chance span'), words.board_chance);
    setText(part('.at-chance button'), words.board_check);
    refill(part('.bars'), ...bars(value, choose));
    part('.bars').setAttribute('aria-label', value.metric);
    part('.bars-says').textContent = value.bars_says;
    part('summary').textContent = words.board_title;
    refill(part('.table'), table(value, choose));
    part('.verdicts').replaceChildren(make('h4', words.board_really), ...verdicts.map((text) => make('p', text)));
    part('.chosen h3').textContent = filled(words.board_chosen, {run: value.chosen_title});
    refill(part('.buttons'), ...buttons(value));
    part('.wrong-title').textContent = value.wrong_title;
    refill(part('.wrong'), ...value.wrong.map(image));
    setText(part('.predict span'), words.board_predict);
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

  onFiles(part('.predict input'), predict);
  part('.at-chance button').addEventListener('click', () => enterRoom('check_up'));
  document.addEventListener('vx-opened', () => {
    if (opening) cameFrom(opening, shown.words, () => enterRoom('finetune'));
    opening = '';
  });
  return show;
}
