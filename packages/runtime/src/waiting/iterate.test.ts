import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iterate } from './iterate.ts';

test('iterate: goes on only when the next is asked for, and ends with what it follows', async () => {
  const given: string[] = [];
  const events = iterate<string>(new AbortController().signal, async (_, give) => {
    for (const event of ['a', 'b']) {
      given.push(event);
      await give(event);
    }
  });
  assert.deepEqual([(await events.next()).value, given], ['a', ['a']]);
  assert.deepEqual([(await events.next()).value, given], ['b', ['a', 'b']]);
  assert.equal((await events.next()).done, true);
});

test('iterate: leaving the loop aborts what it follows, and lets it end', async () => {
  const ended = Promise.withResolvers<boolean>();
  const events = iterate<string>(new AbortController().signal, async (signal, give) => {
    await give('a');
    ended.resolve(signal.aborted);
  });
  for await (const event of events) if (event === 'a') break;
  assert.equal(await ended.promise, true);
});

test('iterate: a failure is thrown where the next is waited for', async () => {
  const events = iterate<string>(new AbortController().signal, async (_, give) => {
    await give('a');
    throw new Error('broken');
  });
  await events.next();
  await assert.rejects(events.next(), { message: 'broken' });
});
