// Searching the list of models, and its groups.

import assert from 'node:assert/strict';
import test from 'node:test';
import {grouped, matching} from '../../../../vitexplorer/ui/shell/chips/model_chip.js';

const MODELS = [
  {name: 'vit_small', title: 'ViT-S/16', family: 'ViT'},
  {name: 'swin_tiny', title: 'Swin-T', family: 'Swin'},
  {name: 'vit_base_dino', title: 'DINO ViT-B', family: 'DINO'},
];
const names = (models) => models.map(({name}) => name);

test('every word must occur, in any field and any case', () => {
  assert.deepEqual(names(matching(MODELS, 'dino VIT', ['name', 'title'])), ['vit_base_dino']);
  assert.deepEqual(names(matching(MODELS, '  ', ['name'])), ['vit_small', 'swin_tiny', 'vit_base_dino']);
  assert.deepEqual(names(matching(MODELS, 'vit', ['title'])), ['vit_small', 'vit_base_dino']);
  assert.deepEqual(names(matching(MODELS, 'swin dino', ['name', 'title'])), []);
});

test('groups keep the order in which they first occur', () => {
  const groups = grouped([...MODELS, {name: 'vit_tiny', title: '', family: 'ViT'}], 'family');
  assert.deepEqual(
    groups.map(([family, entries]) => [family, names(entries)]),
    [
      ['ViT', ['vit_small', 'vit_tiny']],
      ['Swin', ['swin_tiny']],
      ['DINO', ['vit_base_dino']],
    ],
  );
});
