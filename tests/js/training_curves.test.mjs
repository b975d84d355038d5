// The live curves of a training as plotly is given them.

import assert from 'node:assert/strict';
import test from 'node:test';

import {curves, percent, span, ticks} from '../../vitexplorer/ui/training/curves.js';

const LOOK = {text: '#111', muted: '#555', line: '#ccc', font: 'sans-serif'};
const LINE = {name: 'lora', points: [[0.5, 3], [1, 1]], colour: '#31688e', dash: 'solid'};
const LOSS = {title: 'loss', xName: 'epoch', lines: [LINE], epochs: 10};

test('ticks are 1, 2 or 5 times a power of ten apart, also below one', () => {
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(0.13, 2.87, 5), [1, 2]);
  assert.deepEqual(ticks(0, 30, 8), [0, 5, 10, 15, 20, 25, 30]);
  assert.deepEqual(ticks(0.0002, 0.0011, 5), [0.0002, 0.0004, 0.0006, 0.0008, 0.001]);
});

test('a span is never empty', () => {
  assert.deepEqual([span([]), span([2, 2]), span([3, 1, 2])], [[0, 1], [1.5, 2.5], [1, 3]]);
});

test('each method is a line of its own colour with a dot for each of few points', () => {
  const many = {...LINE, points: Array.from({length: 60}, (_, n) => [n, n])};
  const {data} = curves({...LOSS, lines: [LINE, many]}, LOOK);
  assert.deepEqual([data[0].x, data[0].y, data[0].line.color], [[0.5, 1], [3, 1], '#31688e']);
  assert.deepEqual(data.map(({mode}) => mode), ['lines+markers', 'lines']);
});

test('the epochs are whole numbers up to the last that is planned', () => {
  const {xaxis} = curves({...LOSS, epochs: 3}, LOOK).layout;
  assert.deepEqual([xaxis.range, xaxis.tickvals], [[0, 3], [0, 1, 2, 3]]);
});

test('an accuracy is a percentage of the whole, with the baseline named inside the chart', () => {
  const chart = {...LOSS, share: true, level: {value: 0.98, name: 'baseline'}};
  const {yaxis, shapes: [line], annotations: [name]} = curves(chart, LOOK).layout;
  assert.deepEqual([yaxis.range, yaxis.ticktext.at(-1)], [[0, 1], '100 %']);
  assert.deepEqual([line.y0, line.y1, name.yanchor], [0.98, 0.98, 'top']);
  assert.equal(curves({...chart, level: {value: 0.5, name: 'baseline'}}, LOOK).layout.annotations[0].yanchor, 'bottom');
  assert.equal(percent(0.554), '55 %');
});

test('the level belongs to the range of the axis, and no level leaves nothing of an earlier one', () => {
  const [low, high] = curves({...LOSS, level: {value: 9, name: 'baseline'}}, LOOK).layout.yaxis.range;
  assert.ok(low <= 1 && high >= 9);
  assert.deepEqual(curves(LOSS, LOOK).layout.shapes, []);
});
