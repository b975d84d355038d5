// Current chart of a survey, its request, and the conditions that a part of it selects.

import {filled} from '../../kit/dom.js';
import {GROUP} from './groups.js';

/**
 * @typedef {import('./conditions.js').Condition} Condition
 * @typedef {import('./brush.js').Part} Part
 * @typedef {Record<'chart'|'x'|'y'|'colour'|'feature'|'metric'|'map'|'row'|'beside', string>} Looking
 */

export const CHARTS = ['histogram', 'scatter', 'map', 'heads', 'maps', 'classes', 'beside'];

/** Names of a survey's charts; heat maps only where views have maps. */
export const chartsOf = ({maps}) => CHARTS.filter((key) => key !== 'maps' || maps.length);

/**
 * Returns the current chart; missing or invalid parts of the address become defaults.
 *
 * @param {Record<string, string>} look parameters of the address
 * @param {any} facts facts of the survey
 * @returns {Looking}
 */
export function looking(look, {columns, metrics, colours, features, maps, others}) {
  const has = (list, key) => list.some((one) => one.key === key);
  const first = (list, ...keys) => keys.find((key) => has(list, key)) ?? list[0]?.key ?? '';
  const isColumn = (name) => has(columns, name) || has(metrics, name.split('[')[0]);
  const colour = () => (look.colour === 'none' ? '' : first(colours, 'correct', 'label'));
  return {
    chart: chartsOf({maps}).includes(look.chart) ? look.chart : 'histogram',
    x: look.x && isColumn(look.x) ? look.x : first(columns, 'probability', 'rollout_concentration'),
    y: look.y && isColumn(look.y) ? look.y : first(columns, 'rollout_concentration', 'entropy', 'largest_norm'),
    colour: has(colours, look.colour) ? look.colour : colour(),
    feature: first(features, look.feature, 'feature_cls'),
    metric: first(metrics, look.metric, 'distance'),
    map: first(maps, look.map),
    row: /^\d{1,9}$/.test(look.row ?? '') ? look.row : '',
    beside: has(others, look.beside) ? look.beside : '',
  };
}

const named = (kind, ...columns) => columns.map((column) => ({kind, column}));

/**
 * Conditions that the chart itself sets; the chart leaves them out of its own data.
 *
 * @param {Looking} is
 * @returns {{kind: string, column: string}[]}
 */
export function ownConditions({chart, x, y, feature}) {
  switch (chart) {
    case 'histogram':
      return named('within', x);
    case 'scatter':
      return named('within', x, y);
    case 'map':
      return named('area', feature);
    case 'classes':
      return named('equals', 'label', 'predicted');
    default:
      return [];
  }
}

/**
 * @param {Looking} is
 * @param {boolean} hasClasses
 * @returns {[string, Record<string, string>] | null} the request and its parameters; null where there is none
 */
export function question({chart, x, y, colour, feature, metric, map, row, beside}, hasClasses) {
  switch (chart) {
    case 'scatter':
      return x && y ? ['scatter', {x, y, by: colour}] : null;
    case 'map':
      return feature ? ['map', {feature, by: colour}] : null;
    case 'heads':
      return metric ? ['heads', {metric}] : null;
    case 'maps':
      return map ? ['maps', {map, row}] : null;
    case 'classes':
      return hasClasses ? ['classes', {}] : null;
    case 'beside':
      return beside ? ['beside', {beside, metric}] : null;
    default:
      return x ? ['histogram', {x, by: colour}] : null;
  }
}

/**
 * Selected part of a chart; null for none, and where only one of its axes is bounded.
 *
 * @param {Looking} is
 * @param {Condition[]} where
 * @returns {Part | null}
 */
export function partOf({chart, x, y, feature}, where) {
  /** @returns {[number, number] | null} */
  const within = (column) => {
    const found = where.find((one) => one.kind === 'within' && one.column === column);
    return found?.kind === 'within' ? [found.low, found.high] : null;
  };
  if (chart === 'map') {
    const area = where.find((one) => one.kind === 'area' && one.column === feature);
    return area?.kind === 'area' ? {x: [area.box[0], area.box[1]], y: [area.box[2], area.box[3]]} : null;
  }
  const across = within(x);
  const up = chart === 'scatter' ? within(y) : null;
  return across && (up || chart !== 'scatter') ? {x: across, y: up} : null;
}

const rounded = (value) => Number(value.toPrecision(6));

/**
 * Conditions of a selected part of a chart.
 *
 * @param {Looking} is
 * @param {Part} part
 * @returns {Condition[]}
 */
export function conditionsOf({chart, x, y, feature}, part) {
  /** @returns {Condition} */
  const within = (column, [low, high]) => ({kind: 'within', column, low: rounded(low), high: rounded(high)});
  if (chart === 'map') return [{kind: 'area', column: feature, box: [...part.x, ...part.y].map(rounded)}];
  return chart === 'scatter' && part.y ? [within(x, part.x), within(y, part.y)] : [within(x, part.x)];
}

/**
 * @param {string} column `margin`, or `distance[3,1]`
 * @param {any} facts of the survey
 * @param {Record<string, string>} words
 */
export function nameOf(column, facts, words) {
  const [, key, block, head] = /^(.*?)(?:\[(\d+),(\d+)\])?$/.exec(column);
  const known = [...facts.columns, ...facts.metrics, ...facts.features, ...facts.colours].find(
    (one) => one.key === key,
  );
  const title = known?.title ?? (key === GROUP ? words.group : key);
  return block === undefined ? title : `${title} · ${filled(words.chart_head, {block, head})}`;
}
