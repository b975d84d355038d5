// One chart of a survey at a time: choices, drawing, caption and downloads.

import {filled, setText, table} from '../../kit/dom.js';
import {newAside} from '../../kit/frame.js';
import {drawingFile, fileName, saveFile} from '../../kit/saving.js';
import {coloursOf} from '../../kit/theme.js';
import {besideView} from './beside.js';
import {brushing, showPart} from './brush.js';
import {chartControls} from './chart_controls.js';
import {csvOf, numbersOf} from './chart_table.js';
import {heads, histogram, points} from './charts.js';
import {classTable} from './classes.js';
import {placed, without, writtenWhere} from './conditions.js';
import {headCells} from './head_cells.js';
import {heatMaps} from './heat_maps.js';
import {conditionsOf, looking, ownConditions, partOf, question} from './looking.js';
import {FILE_INK} from './plot.js';
import {short} from './scales.js';
import {latest} from './server.js';
import {onPaper} from './titled.js';

const FILE = {width: 960, height: 600};
const TABLES = ['classes', 'beside'];
const CELLS = ['heads', 'maps'];
const MISSING = {
  map: 'chart_no_features',
  heads: 'chart_no_heads',
  classes: 'chart_no_prediction',
  beside: 'beside_first',
};

/** @typedef {import('./conditions.js').Condition} Condition */

/**
 * @param {HTMLElement} root
 * @param {HTMLElement} below with the parts of a frame
 * @param {object} does
 * @param {(changes: Record<string, string>) => void} does.change shows another chart or setting
 * @param {(conditions: Condition[], gone?: {kind: string, column: string}[]) => void} does.choose
 */
export function chartView(root, below, {change, choose}) {
  const part = (selector) => root.querySelector(selector);
  const host = part('.host');
  let now = /** @type {any} */ (null);
  let answer = /** @type {any} */ (null);
  let drawn = /** @type {any} */ (null);
  let wanted = '';
  const asks = latest(take);
  const controls = chartControls(root, change);
  const aside = newAside(below, save, () => (now && answer ? numbers() : null));
  const cells = headCells(host, {
    open: (block, head) => now.is.chart === 'heads' && change({chart: '', x: placed(now.is.metric, block, head)}),
    say: (words) => setText(part('.says'), words),
  });

  const isTable = () => TABLES.includes(now.is.chart);
  const isDrawn = () => Boolean(answer) && !answer.empty && !isTable();

  function take(came) {
    delete root.dataset.working;
    if (!now) return;
    const refused = came ? (came.refused ?? came.error) : now.words.survey_lost;
    answer = refused === undefined ? came : null;
    wait(refused ?? (answer.empty ? now.words.chart_empty : ''));
    redraw();
  }

  function wait(sentence) {
    setText(part('.wait'), sentence);
  }

  // ---- drawing

  const size = () => ({width: Math.max(260, host.clientWidth), height: Math.max(220, host.clientHeight)});

  function drawing(room, ink) {
    const {is, words} = now;
    if (is.chart === 'scatter' || is.chart === 'map') return points(answer, room, ink, is.chart === 'map');
    if (is.chart === 'heads') return heads({values: answer.mean, title: answer.title}, room, ink, words);
    if (is.chart === 'maps') return heatMaps(answer, room, ink);
    return histogram(answer, room, ink, words);
  }

  function redraw() {
    if (!now) return;
    const {is, words} = now;
    const hint = {heads: words.chart_cell, maps: words.chart_maps_keys}[is.chart] ?? words.chart_brush;
    host.hidden = !isDrawn();
    part('.table-host').hidden = !answer || !isTable();
    setText(part('.says'), is.chart === 'beside' ? '' : (answer?.says ?? ''));
    setText(part('.keys'), isDrawn() ? hint : '');
    drawn = null;
    cells.forget();
    if (isDrawn()) draw();
    else if (answer && isTable()) showTable();
    Object.assign(root.dataset, {drawn: answer ? is.chart : '', turn: String(Number(root.dataset.turn ?? 0) + 1)});
    showAside();
  }

  function draw() {
    drawn = drawing(size(), coloursOf(host));
    host.replaceChildren(drawn.node);
    host.setAttribute('aria-label', answer.says);
    if (CELLS.includes(now.is.chart)) cells.show(drawn.cells, answer.says, tellCell);
    else showPart(drawn, partOf(now.is, now.where));
  }

  function tellCell(row, col) {
    const {words} = now;
    const {mean, low, high, own, names} = answer;
    if (low)
      return filled(words.chart_head_says, {
        block: row,
        head: col,
        mean: short(mean[row][col]),
        low: short(low[row][col]),
        high: short(high[row][col]),
      });
    const said = [mean, ...(own ? [own] : [])].map(
      (values, number) => `${names[number]} ${values[row][col] === null ? '–' : short(values[row][col])}`,
    );
    return filled(words.chart_maps_says, {
      row,
      col,
      axis: answer.axes[0],
      other: answer.axes[1],
      numbers: said.join(' · '),
    });
  }

  function showTable() {
    const {is, words} = now;
    const place = part('.table-host');
    if (is.chart === 'beside') return besideView(place, answer, words, coloursOf(root), (order) => change({order}));
    return classTable(place, answer, words, (label, predicted) => {
      const kind = /** @type {'equals'} */ ('equals');
      const labelled = {kind, column: 'label', value: label};
      if (predicted === undefined) choose([labelled], [{kind, column: 'predicted'}]);
      else choose([labelled, {kind, column: 'predicted', value: predicted}]);
    });
  }

  brushing(host, {
    current() {
      if (!drawn || CELLS.includes(now.is.chart)) return null;
      const edges = now.is.chart === 'histogram' && answer.edges;
      return {
        chart: drawn,
        both: now.is.chart !== 'histogram',
        part: partOf(now.is, now.where),
        step: edges ? edges[1] - edges[0] : undefined,
      };
    },
    settled: (chosen) => now && (chosen ? choose(conditionsOf(now.is, chosen)) : choose([], ownConditions(now.is))),
  });

  // ---- downloads

  function showAside() {
    const {is, frame, facts, words} = now;
    const formats = [...(isDrawn() ? ['png2', 'png4', 'svg'] : []), ...(answer && !answer.empty ? ['csv'] : [])];
    aside.show(
      {
        question: '',
        reading: '',
        paper: answer?.paper ?? '',
        paper_url: answer?.paper_url ?? '',
        next: '',
        next_room: '',
        words: frame,
        misleads: is.chart === 'map' ? words.chart_map_trap : '',
        python: answer?.python ?? '',
        facts: facts.captions,
      },
      formats,
    );
  }

  function numbers() {
    const {head, rows} = numbersOf(now.is.chart, answer, now.words);
    return [
      table(
        answer.says,
        head,
        rows.map((row) => row.map((cell) => (typeof cell === 'number' ? short(cell) : String(cell ?? '')))),
      ),
    ];
  }

  function save(format) {
    if (!now) return;
    const {is, facts, words} = now;
    const name = (ending) => fileName(['survey', facts.title, is.chart, is.chart === 'histogram' ? is.x : ''], ending);
    if (format === 'csv')
      return saveFile(new Blob([csvOf(numbersOf(is.chart, answer, words))], {type: 'text/csv'}), name('csv'));
    return drawingFile(picture(), format).then((file) => saveFile(file, name(format.slice(0, 3))));
  }

  /** Chart to save: title above, model below. */
  function picture() {
    const made = drawing(FILE, FILE_INK);
    const {is, where, facts} = now;
    if ('marks' in made) showPart(made, partOf(is, where));
    return onPaper(made.node, FILE, facts.title, answer.says, facts.captions.map(({value}) => value).join(' · '));
  }

  return {
    redraw,
    /** Call after a change of the width. */
    resize() {
      const {width, height} = size();
      if (
        drawn &&
        (Number(drawn.node.getAttribute('width')) !== width || Number(drawn.node.getAttribute('height')) !== height)
      )
        redraw();
    },
    /** @returns {SVGElement | null} drawing to save; null where there is none */
    picture: () => (now && isDrawn() ? picture() : null),
    /** @param {any} row row of a pressed image @returns {boolean} true if the chart did not show it before */
    takes(row) {
      if (now?.is.chart !== 'maps' || now.is.row === String(row.row)) return false;
      change({row: String(row.row)});
      return true;
    },
    /** @param {string} sentence reason why there is no chart yet */
    wait(sentence) {
      if (!now) wait(sentence);
    },
    /** Call before another survey is opened. */
    forget() {
      asks.forget();
      controls.forget();
      cells.forget();
      now = answer = drawn = null;
      wanted = '';
      for (const place of ['.host', '.table-host']) part(place).replaceChildren();
      for (const name of ['.says', '.keys', '.wait']) setText(part(name), '');
      root.dataset.drawn = '';
    },
    /** @param {any} given address parameters, facts, conditions and texts */
    show(given) {
      const before = now?.is.chart;
      const is = looking(given.look, given.facts);
      const asked = question(is, given.facts.classes);
      now = {...given, is};
      controls.show(is, given.facts, given.words);
      const key = asked ? JSON.stringify([asked, given.asked, ownConditions(is).reduce(without, given.where)]) : '';
      if (key && key === wanted && answer) {
        if (drawn && !CELLS.includes(is.chart)) showPart(drawn, partOf(is, given.where));
        return;
      }
      wanted = key;
      if (!asked || before !== is.chart) {
        answer = null;
        redraw();
      }
      if (!asked) {
        asks.forget();
        wait(given.words[MISSING[is.chart] ?? 'chart_empty']);
        return;
      }
      if (!answer) wait(given.words[is.chart === 'map' ? 'chart_drawing_map' : 'chart_working']);
      root.dataset.working = '';
      asks.ask(asked[0], {
        ...given.asked,
        ...asked[1],
        where: writtenWhere(ownConditions(is).reduce(without, given.where)),
      });
    },
  };
}
