// Tabs of the charts, and the choices of each chart.

import {make, refill} from '../../kit/dom.js';
import {CHARTS, chartsOf, nameOf} from './looking.js';

/**
 * @param {HTMLElement} root
 * @param {(changes: Record<string, string>) => void} change
 */
export function chartControls(root, change) {
  const tabs = root.querySelector('.tabs');
  const controls = root.querySelector('.controls');
  let chart = '';
  let charts = CHARTS;
  const turn = (key) => change({chart: key === CHARTS[0] ? '' : key});

  function choices(name, title, options, value) {
    const select = make(
      'select',
      {name, onchange: () => change({[name]: select.value})},
      ...options.map((one) => make('option', {value: one.key}, one.title)),
    );
    select.value = value;
    return make('label', make('span', title), select);
  }

  tabs.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const at = charts.indexOf(chart);
    if (!step || at < 0) return;
    event.preventDefault();
    const key = charts[(at + step + charts.length) % charts.length];
    turn(key);
    tabs.querySelector(`[data-chart="${key}"]`).focus();
  });

  return {
    /**
     * @param {import('./looking.js').Looking} is
     * @param {any} facts
     * @param {Record<string, string>} words
     */
    show(is, facts, words) {
      chart = is.chart;
      charts = chartsOf(facts);
      const tab = (key) =>
        make(
          'button',
          {
            role: 'tab',
            ariaSelected: String(key === chart),
            tabIndex: key === chart ? 0 : -1,
            dataset: {chart: key},
            onclick: () => turn(key),
          },
          words[`chart_${key}`],
        );
      tabs.setAttribute('aria-label', words.survey_charts);
      refill(tabs, ...charts.map(tab));

      const {columns, colours, metrics, features, maps, others} = facts;
      const none = {key: 'none', title: words.chart_none};
      const numbers = (value) =>
        !value || columns.some(({key}) => key === value)
          ? columns
          : [...columns, {key: value, title: nameOf(value, facts, words)}];
      const of = (name, title, options) => (options.length ? [choices(name, title, options, is[name])] : []);
      const colour = () => [choices('colour', words.chart_colour, [none, ...colours], is.colour || 'none')];
      const shown = {
        histogram: () => [...of('x', words.chart_of, numbers(is.x)), ...colour()],
        scatter: () => [
          ...of('x', words.chart_x, numbers(is.x)),
          ...of('y', words.chart_y, numbers(is.y)),
          ...colour(),
        ],
        map: () => (features.length ? [...of('feature', words.chart_feature, features), ...colour()] : []),
        heads: () => of('metric', words.chart_metric, metrics),
        maps: () => [
          ...of('map', words.chart_view, maps),
          ...(is.row ? [make('button.mean-alone', {onclick: () => change({row: ''})}, words.chart_maps_alone)] : []),
        ],
        classes: () => [],
        beside: () => [
          ...of('beside', words.beside_choose, [{key: '', title: words.beside_none}, ...others]),
          ...of('metric', words.chart_metric, metrics),
        ],
      };
      refill(controls, ...shown[chart]());
    },
    forget() {
      tabs.replaceChildren();
      controls.replaceChildren();
    },
  };
}
