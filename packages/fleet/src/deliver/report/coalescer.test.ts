import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Coalescer, REPORTS, SUMMARIES } from './coalescer.ts';

test('the first change starts the time, and what settles starts anew', () => {
  let now = 1000;
  const coalescer = new Coalescer(
    { wall: () => new Date(0), monotonic: () => now, setTimer: () => () => {} },
    { eachMs: 5, longestMs: 5_000 },
  );
  assert.equal(coalescer.remaining('a', 100), 100);
  now += 60;
  assert.equal(coalescer.remaining('a', 100), 40);
  assert.equal(coalescer.remaining('b', 100), 100);
  now += 60;
  assert.equal(coalescer.remaining('a', 100), 0);
  coalescer.settled('a');
  assert.equal(coalescer.remaining('a', 100), 100);
});

test('what may wait longer is due later, by the same beginning', () => {
  let now = 0;
  const coalescer = new Coalescer(
    { wall: () => new Date(0), monotonic: () => now, setTimer: () => () => {} },
    { eachMs: 5, longestMs: 5_000 },
  );
  assert.equal(coalescer.remaining('a', 1000), 1000);
  now = 300;
  assert.equal(coalescer.remaining('a', 100), 0);
});

test('what changes together with many others is gathered for longer, to an end', () => {
  let now = 0;
  const coalescer = new Coalescer(
    { wall: () => new Date(0), monotonic: () => now, setTimer: () => () => {} },
    { eachMs: 5, longestMs: 5_000 },
  );
  assert.equal(coalescer.left('0', 100), 0, 'nothing has changed of it');
  for (let index = 0; index < 121; index++) coalescer.remaining(String(index), 100);
  assert.equal(coalescer.left('0', 100), 500);
  assert.equal(coalescer.remaining('0', 1000), 1000);
  for (let index = 0; index < 120; index++) coalescer.settled(String(index));
  assert.equal(coalescer.left('120', 100), 100, 'the others are told');
  for (let index = 0; index < 10_000; index++) coalescer.remaining(String(index), 100);
  now = 5_000;
  assert.equal(coalescer.remaining('0', 100), 0);
});

for (const [what, throng] of Object.entries({ reports: REPORTS, summaries: SUMMARIES })) {
  test(`${what} of changes that come 200 a second wait until these are over, at most ${throng.longestMs} ms`, () => {
    let now = 0;
    const coalescer = new Coalescer(
      { wall: () => new Date(0), monotonic: () => now, setTimer: () => () => {} },
      throng,
    );
    for (let index = 0; index < 600; index++) {
      coalescer.remaining(String(index), 100);
      now += 5;
      if (index > 100) assert.ok(coalescer.left('100', 100) > 0, `${now} ms`);
    }
    now = throng.longestMs;
    assert.equal(coalescer.left('0', 100), 0);
  });
}
