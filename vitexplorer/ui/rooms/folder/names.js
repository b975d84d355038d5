// Display names of columns, also of one head's column.

import {filled} from '../../kit/dom.js';

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
  const title = known?.title ?? key;
  return block === undefined ? title : `${title} · ${filled(words.chart_head, {block, head})}`;
}
