import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inParallel } from './in-parallel.ts';

test('asks a few at once, and answers in order', async () => {
  let running = 0;
  let most = 0;
  const waits = [3, 1, 2, 0, 1];
  const answers: (readonly [number, string])[] = [];
  const ask = async (ticks: number): Promise<string> => {
    most = Math.max(most, (running += 1));
    for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return `after ${ticks}`;
  };
  for await (const pair of inParallel(waits, 2, ask)) answers.push(pair);
  assert.deepEqual(
    answers,
    waits.map((ticks) => [ticks, `after ${ticks}`]),
  );
  assert.equal(most, 2);
});

test('what fails is told when its turn comes', async () => {
  const seen: number[] = [];
  const ask = (item: number) => (item === 2 ? Promise.reject(new Error('no')) : Promise.resolve(item));
  await assert.rejects(async () => {
    for await (const [item] of inParallel([1, 2, 3], 3, ask)) seen.push(item);
  }, /^Error: no$/);
  assert.deepEqual(seen, [1]);
});
