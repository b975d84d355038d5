// Words filled into texts.

import assert from 'node:assert/strict';
import test from 'node:test';

import {filled} from '../../../vitexplorer/ui/kit/dom.js';

test('names are filled in, and one without a value is left to be noticed', () => {
  assert.equal(filled('{a} of {b}, {c}', {a: 0, b: '{a}'}), '0 of {a}, {c}');
});

test('a counted word agrees with its number', () => {
  const sentence = '{n:patch}, {n:image is/images are} in both, {n:~says/say} {b}';
  const [none, one, two] = [0, '1', 2].map((n) => filled(sentence, {n, b: 'c'}));
  assert.equal(none, '0 patches, 0 images are in both, say c');
  assert.equal(one, '1 patch, 1 image is in both, says c');
  assert.equal(two, '2 patches, 2 images are in both, say c');
  assert.equal(filled('{n:patch}', {}), '{n:patch}');
});

test('no space follows a Chinese mark', () => {
  assert.equal(filled('{model} 认为', {model: 'ViT（合成场景）'}), 'ViT（合成场景）认为');
  assert.equal(filled('{model} 认为', {model: 'ViT'}), 'ViT 认为');
});
