// Curves of a training in words and as a table, for screen readers.

import {table} from '../../kit/dom.js';
import {followed, listed, percent} from '../../kit/formats.js';

const DIGITS = 4;

/** @typedef {Parameters<typeof import('./curves.js').curves>[0]} Chart */

/** Formats a loss with four digits, a share as a percentage. */
const written = (figure, share) => (share ? percent(figure) : String(Number(figure.toPrecision(DIGITS))));

/**
 * Describes the chart and the last value of each line.
 *
 * @param {Pick<Chart, 'title' | 'lines' | 'share' | 'level'>} chart
 */
export function said({title, lines, share = false, level = null}) {
  const ends = lines
    .filter(({points}) => points.length)
    .map(({name, points}) => ({name, value: points[points.length - 1][1]}));
  const all = [...ends, ...(level ? [level] : [])].map(({name, value}) => `${name} ${written(value, share)}`);
  return all.length ? followed(title, listed(all)) : title;
}

/**
 * Table of every point of every line.
 *
 * @param {Pick<Chart, 'title' | 'xName' | 'lines' | 'share'>} chart
 * @param {string} method heading of the lines' names
 */
export function numbersOf({title, xName, lines, share = false}, method) {
  const row = ({name}, [epoch, figure]) => [name, String(Number(epoch.toPrecision(DIGITS))), written(figure, share)];
  return table(
    title,
    [method, xName, title],
    lines.flatMap((line) => line.points.map((point) => row(line, point))),
    true,
  );
}
