// Progress of a training: a row with a bar for each method, two charts, stop and resume. The address names it.

import {writeAddress} from '../../../kit/address.js';
import {make, setText, showSentence} from '../../../kit/dom.js';
import {drawFigure, plotly} from '../../../kit/plotly.js';
import {svg} from '../../../kit/svg.js';
import {coloursOf, onTheme, theme} from '../../../kit/theme.js';
import {curves, numbersOf, said} from './curves.js';

const BETWEEN_LOOKS = 1000; // milliseconds between two readings of the progress
const RESUMABLE = ['stopped', 'interrupted', 'failed'];

/** Sample of a method's line, at the start of its row. */
function sample({light, dark, dash}) {
  const colours = `--on-light: ${light}; --on-dark: ${dark}`;
  const shown = {class: `sample ${dash}`, viewBox: '0 0 30 10', style: colours, 'aria-hidden': 'true'};
  return svg('svg', shown, svg('path', {d: 'M0 5h30'}));
}

function row({key, title, style, share, label, detail, error, state}) {
  return make(
    'li',
    {dataset: {run: key, state}},
    sample(style),
    make('b', title),
    make('progress', {max: 1, value: share, attributes: {'aria-label': title}}),
    make('span.label', label),
    make('span.detail', detail),
    error ? make('p.error', error) : null,
  );
}

/**
 * Data of the two charts.
 *
 * @returns {[string, Parameters<typeof curves>[0]][]} pairs of the chart's CSS class and its data
 */
function charts({rows, words, epochs, metric, is_share: share, baseline}) {
  const lines = (kind) =>
    rows.map((one) => ({name: one.title, points: one[kind], colour: one.style[theme()], dash: one.style.dash}));
  const level = baseline === null ? null : {value: baseline, name: words.run_baseline};
  return [
    ['loss', {title: words.run_loss, xName: words.run_axis, lines: lines('loss'), epochs}],
    ['metric', {title: metric, xName: words.run_axis, lines: lines('metric'), epochs, share, level}],
  ];
}

/** @param {import('../../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  let asked = ''; // pressed button, stop or resume, until the state changes
  let library = null; // plotly, once it is loaded
  const drawn = {}; // data of each drawn chart by its CSS class: most values bring no new point

  /** Redraws both charts in place, so that nothing flickers. */
  async function draw() {
    library = await plotly();
    const value = props.value; // it may have changed meanwhile
    if (!value?.run || part('.charts').hidden) return;
    for (const [place, chart] of charts(value)) {
      const host = part(`.${place}`);
      const {data, layout} = curves(chart, coloursOf(root));
      const now = JSON.stringify([data, layout]);
      if (now === drawn[place]) continue;
      drawn[place] = now;
      host.setAttribute('aria-label', said(chart));
      await drawFigure(library, host, data, layout);
      host.dataset.points = chart.lines.reduce((sum, {points}) => sum + points.length, 0);
      host.toggleAttribute('data-level', Boolean(chart.level));
    }
  }

  function writeNumbers() {
    if (!part('.vx-table').open) return;
    const {value} = props;
    const {run_method: method} = value.words;
    part('.vx-table .table').replaceChildren(...charts(value).map(([, chart]) => numbersOf(chart, method)));
  }

  function showCharts({rows, baseline, words}) {
    const pointed = rows.some(({loss, metric}) => loss.length || metric.length) || baseline !== null;
    part('.charts').hidden = part('.vx-table').hidden = !pointed;
    setText(part('.vx-table summary'), words.run_table);
    part('.vx-table .table').setAttribute('aria-label', words.run_table);
    writeNumbers();
    if (pointed) draw().catch((error) => console.warn('training:', error));
  }

  /** Shows at most one of the two buttons; when a pressed button disappears, the other or the title gets the focus. */
  function showButtons({state, words}) {
    const focused = part('.top button:focus');
    const there = {stop: state === 'running', resume: RESUMABLE.includes(state)};
    for (const [kind, is] of Object.entries(there)) {
      const button = part(`.${kind}`);
      setText(button, words[`run_${kind}`]);
      button.hidden = !is;
      button.ariaDisabled = String(asked === kind);
    }
    if (focused?.hidden) (part('.top button:not([hidden])') ?? part('h3')).focus({preventScroll: true});
  }

  function showWhole({state, share, title}) {
    const whole = part('.whole');
    whole.hidden = state !== 'running';
    if (share === null) whole.removeAttribute('value');
    else whole.value = share;
    whole.setAttribute('aria-label', title);
  }

  function showTraining(value) {
    const {title, doing, left, error, notes, words} = value;
    setText(part('h3'), title);
    setText(part('.doing'), [asked === 'stop' ? words.run_stopping : doing, left].filter(Boolean).join(' · '));
    showButtons(value);
    showWhole(value);
    showSentence(part('.top + .whole + .error'), error);
    part('.rows').replaceChildren(...value.rows.map(row));
    setText(part('.notes'), notes.join(' '));
    showCharts(value);
  }

  function show() {
    const value = props.value;
    if (!value?.words?.run_stop) return;
    if ((root.dataset.run || '') !== value.run) writeAddress({run: value.run});
    root.hidden = !value.run;
    if (asked === 'stop' && value.state !== 'running') asked = '';
    if (asked === 'resume' && value.state === 'running') asked = '';
    Object.assign(root.dataset, {run: value.run, state: value.state || 'empty'});
    if (value.run) showTraining(value);
  }

  /** @param {string} kind stop or resume */
  function ask(kind) {
    if (asked) return;
    asked = kind;
    show();
    trigger(kind, {});
  }

  for (const kind of ['stop', 'resume']) part(`button.${kind}`).addEventListener('click', () => ask(kind));
  part('.vx-table').addEventListener('toggle', writeNumbers);
  onTheme(show);
  const watching = setInterval(() => {
    if (!root.isConnected) clearInterval(watching);
    else if (root.dataset.state === 'running') trigger('tick', {});
  }, BETWEEN_LOOKS);
  new ResizeObserver(() => {
    for (const host of root.querySelectorAll('.chart')) if (host.data && host.clientWidth) library.Plots.resize(host);
  }).observe(part('.charts'));
  return show;
}
