import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interleave } from './interleave.ts';

test('interleave: every subject in every round, every second round backwards, without the warm-up', async () => {
  const order: string[] = [];
  const subject = (name: string) => () => Promise.resolve(order.push(name));
  const results = await interleave({ a: subject('a'), b: subject('b') }, { rounds: 3, warmUp: 1 });
  assert.equal(order.join(' '), 'a b b a a b b a');
  assert.deepEqual(results, { a: [4, 5, 8], b: [3, 6, 7] });
});

test('interleave: never two at once', async () => {
  let running = 0;
  const subject = async (): Promise<void> => {
    assert.equal(++running, 1);
    await Promise.resolve();
    running--;
  };
  await interleave({ a: subject, b: subject }, { rounds: 2 });
});

test('interleave: ends when it is aborted', async () => {
  const abort = new AbortController();
  let calls = 0;
  const subject = (): Promise<void> => {
    if (++calls === 3) abort.abort(new Error('enough'));
    return Promise.resolve();
  };
  await assert.rejects(interleave({ a: subject }, { rounds: 10, signal: abort.signal }), /enough/);
  assert.equal(calls, 3);
});
