// The live curves of a training as Plotly is given them.

import assert from 'node:assert/strict';
import test from 'node:test';
import {curves, said} from '../../../../../vitexplorer/ui/rooms/finetune/training/curves.js';

const LOOK = {text: '#111', muted: '#555', line: '#ccc', font: 'sans-serif'};
const LINE = {
  name: 'lora',
  points: [
    [0.5, 3],
    [1, 1],
  ],
  colour: '#31688e',
  dash: 'solid',
};
const LOSS = {title: 'loss', xName: 'epoch', lines: [LINE], epochs: 10};

test('each method is a line of its own colour with a dot for each of few points', () => {
  const many = {...LINE, points: Array.from({length: 60}, (_, n) => [n, n])};
  const {data} = curves({...LOSS, lines: [LINE, many]}, LOOK);
  assert.deepEqual([data[0].x, data[0].y, data[0].line.color], [[0.5, 1], [3, 1], '#31688e']);
  assert.deepEqual(
    data.map(({mode}) => mode),
    ['lines+markers', 'lines'],
  );
});

test('the axis ends with the last epoch that is planned', () => {
  const {xaxis} = curves({...LOSS, epochs: 3}, LOOK).layout;
  assert.deepEqual([xaxis.range, xaxis.dtick], [[0, 3], 1]);
});

test('an accuracy is a percentage of the whole, with the baseline named at its level', () => {
  const {
    data: [level, line],
    layout,
  } = curves({...LOSS, share: true, level: {value: 0.98, name: 'baseline'}}, LOOK);
  assert.deepEqual([layout.yaxis.range, layout.yaxis.ticksuffix], [[0, 100], ' %']);
  assert.deepEqual(
    [level.y, level.text, line.y],
    [
      [98, 98],
      ['', 'baseline'],
      [300, 100],
    ],
  );
});

test('an axis without figures still has numbers', () => {
  assert.deepEqual(curves({...LOSS, lines: [{...LINE, points: []}]}, LOOK).layout.yaxis.range, [0, 1]);
  assert.equal(curves(LOSS, LOOK).layout.yaxis.range, undefined);
});

test('a chart says where its lines are, for those who do not see it', () => {
  const other = {...LINE, name: 'linear', points: []};
  assert.equal(said({...LOSS, lines: [LINE, other]}), 'loss. lora 1');
  assert.equal(said({...LOSS, lines: [other]}), 'loss');
  const shares = {
    title: '验证集上的准确率',
    lines: [
      {
        ...LINE,
        points: [
          [1, 0.5],
          [2, 0.9375],
        ],
      },
    ],
    share: true,
    level: {value: 0.25, name: '基准'},
  };
  assert.equal(said(shares), '验证集上的准确率。lora 93.8\u00a0%，基准 25.0\u00a0%');
});
