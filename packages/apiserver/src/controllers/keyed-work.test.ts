import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KeyedWork } from './keyed-work.ts';

describe('keyed work', () => {
  test('does what was added while it waits once, and what is added while it is done again', async () => {
    const done: string[] = [];
    const gate = Promise.withResolvers<void>();
    const work = new KeyedWork({
      async work(key) {
        done.push(key);
        if (done.length === 1) await gate.promise;
      },
      onError: () => assert.fail(),
      signal: new AbortController().signal,
    });
    for (const key of ['a', 'b', 'b', 'a']) work.add(key);
    await new Promise(setImmediate);
    work.add('a');
    work.add('a');
    gate.resolve();
    await work.settled();
    assert.deepEqual(done, ['a', 'b', 'a']);
  });

  test('what fails is tried again, and holds nothing else', async () => {
    const stop = new AbortController();
    const done: string[] = [];
    const errors: string[] = [];
    const succeeded = Promise.withResolvers<void>();
    const work = new KeyedWork({
      async work(key) {
        done.push(key);
        if (key === 'bad' && errors.length < 2) throw new Error('not yet');
        if (key === 'bad') succeeded.resolve();
      },
      onError: (key) => errors.push(key),
      signal: stop.signal,
      retryMilliseconds: 2,
    });
    // The retries' timers alone do not keep a process alive.
    const alive = setInterval(() => {}, 1000);
    work.add('bad');
    work.add('good');
    await succeeded.promise;
    clearInterval(alive);
    assert.deepEqual(errors, ['bad', 'bad']);
    assert.deepEqual(done.slice(0, 2), ['bad', 'good']);
  });

  test('ends with its signal', async () => {
    const stop = new AbortController();
    const done: string[] = [];
    const work = new KeyedWork({
      async work(key) {
        done.push(key);
        stop.abort();
      },
      onError: () => assert.fail(),
      signal: stop.signal,
    });
    work.add('a');
    work.add('b');
    await work.settled();
    work.add('c');
    await work.settled();
    assert.deepEqual(done, ['a']);
  });
});
