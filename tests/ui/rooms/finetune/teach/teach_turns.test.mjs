// The order of work while somebody teaches: one thing after the other, examples first.

import assert from 'node:assert/strict';
import test from 'node:test';

globalThis.document = {baseURI: 'http://here/', documentElement: {lang: 'en'}};
globalThis.location = new URL('http://here/');
const {turns} = await import('../../../../../vitexplorer/ui/rooms/finetune/teach/teach_turns.js');

const soon = () =>
  new Promise((done) => {
    setTimeout(done, 0);
  });

/** Work that is told by name and ends when it is let go. */
function works({isSeen = () => true, left = [], more = [], settled = 1000} = {}) {
  const told = [];
  const waiting = [];
  const begin = (name, answers) => () =>
    new Promise((done) => {
      told.push(name);
      waiting.push(() => done(answers.shift() ?? false));
    });
  const schedule = turns(
    {learn: begin('learn', left), ask: begin('ask', more), score: () => told.push('score'), isSeen},
    settled,
  );
  const end = async () => {
    waiting.shift()();
    await soon();
  };
  return {schedule, told, waiting, end};
}

test('examples are looked at before a question is asked, and as long as there are more', async () => {
  const {schedule, told, waiting, end} = works({left: [true]});
  schedule.taught();
  schedule.asks();
  assert.deepEqual(told, ['learn']);
  await end();
  assert.deepEqual(told, ['learn', 'learn']);
  await end();
  assert.deepEqual(told, ['learn', 'learn', 'ask']);
  await end();
  assert.equal(waiting.length, 0);
});

test('questions never queue up: whatever is asked meanwhile is one question afterwards', async () => {
  const {schedule, told, end} = works();
  for (let i = 0; i < 5; i++) schedule.asks();
  assert.deepEqual(told, ['ask']);
  await end();
  assert.deepEqual(told, ['ask', 'ask']);
  await end();
  assert.deepEqual(told, ['ask', 'ask']);
});

test('a camera is asked again until it is off, and an example comes between', async () => {
  const {schedule, told, end} = works({more: [true, true]});
  schedule.asks();
  await end();
  schedule.taught();
  await end();
  await end();
  assert.deepEqual(told, ['ask', 'ask', 'learn', 'ask']);
});

test('nothing is done while nobody looks, and it is made up for then', async () => {
  let seen = false;
  const {schedule, told} = works({isSeen: () => seen});
  schedule.asks();
  await soon();
  assert.deepEqual(told, []);
  seen = true;
  schedule.next();
  assert.deepEqual(told, ['ask']);
});

test('how good it is is told once after several examples', async () => {
  const {schedule, told} = works({settled: 5});
  for (let i = 0; i < 3; i++) schedule.taught();
  await new Promise((done) => {
    setTimeout(done, 30);
  });
  assert.equal(told.filter((name) => name === 'score').length, 1);
});
