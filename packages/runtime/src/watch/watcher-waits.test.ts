import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answer, failure } from '../testing/fake-api.ts';
import { ALL, isBackoff, pod, PODS, WatcherTrial } from '../testing/watcher-trial.ts';

describe('watchResource waits', () => {
  test('half an event and a reset: resumes after a delay, and the event comes again', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    const watcher = trial.follow();
    await watcher.next(2);
    const next = watcher.next(1);
    const { response } = await api.called(({ watch }) => watch);
    response.write('{"type":"ADDED","object":{"metadata":{"na');
    api.endWatches('reset');
    assert.equal(await clock.timer(isBackoff), 800);
    api.put(ALL, pod('a'));
    clock.advance(800);
    assert.deepEqual(await next, ['Apply a']);
    assert.equal(trial.lists().length, 1);
  });

  test('a server that answers again: the wait is over, however long it has become, and the next failure is a first one', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    const back: ((again: boolean) => void)[] = [];
    const client = api.client().resource(PODS);
    const watcher = trial.follow(() => ({ client, answersAgain: () => new Promise((resolve) => back.push(resolve)) }));
    await watcher.next(2);
    const next = watcher.next(1);
    await api.called(({ watch }) => watch);
    const mend = api.fault(({ response }) => (response.destroy(), true));
    api.endWatches('reset');
    for (const wait of [800, 1_600, 3_200, 6_400]) {
      await clock.timer((ms) => ms === wait);
      clock.advance(wait);
    }
    await clock.timer((ms) => ms === 12_800);
    mend();
    api.put(ALL, pod('a'));
    back.at(-1)?.(true);
    assert.deepEqual(await next, ['Apply a']);
    void watcher.next(1);
    api.endWatches('reset');
    assert.equal(await clock.timer(isBackoff), 800);
  });

  test('a server that has answered all along, one that refuses, and one that says when: the wait stays what it is', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    const client = api.client().resource(PODS);
    let asked = 0;
    const watcher = trial.follow(() => ({ client, answersAgain: async () => (asked++, false) }));
    await watcher.next(2);
    void watcher.next(1);
    await api.called(({ watch }) => watch);
    api.fault(({ watch, response }) => watch && (answer(response, 403, failure(403, 'Forbidden')), true));
    api.endWatches('reset');
    await clock.timer((ms) => ms === 800);
    assert.equal(asked, 1);
    clock.advance(800);
    await clock.timer((ms) => ms === 1_600);
    assert.equal(asked, 1, 'a refusal is an answer');
  });

  test('429 waits for as long as the server says', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    api.faultOnce(
      ({ response }) => (answer(response, 429, failure(429, 'TooManyRequests'), { 'retry-after': '7' }), true),
    );
    const watcher = trial.follow();
    const next = watcher.next(2);
    assert.equal(await clock.timer(isBackoff), 7000);
    clock.advance(7000);
    assert.deepEqual(await next, ['Init', 'InitDone']);
  });

  test('5xx on a watch is waited out for a minute, then listed again', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    const watcher = trial.follow();
    await watcher.next(2);
    const next = watcher.next(2);
    const mend = api.fault(
      ({ watch, response }) => watch && (answer(response, 500, failure(500, 'InternalError')), true),
    );
    let waited = 0;
    while (trial.lists().length === 1) {
      const ms = await Promise.race([
        clock.timer(isBackoff),
        api.called((call) => call === trial.lists()[1]).then(() => 0),
      ]);
      clock.advance(ms);
      waited += ms;
    }
    mend();
    assert.deepEqual(await next, ['Init', 'InitDone']);
    assert.ok(waited >= 60_000, `${waited} ms`);
    assert.ok(trial.watches().length > 4);
  });

  test('delays double up to 30 s, get jitter, and are reset by two minutes of health alone', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    const mend = api.fault(({ response }) => (response.destroy(), true));
    const watcher = trial.follow(undefined, { random: () => 0.5 });
    const next = watcher.next(2);
    const delays: number[] = [];
    for (let i = 0; i < 8; i++) {
      delays.push(await clock.timer(isBackoff));
      if (i === 7) mend();
      clock.advance(delays[i] as number);
    }
    assert.deepEqual(
      delays,
      [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000].map((ms) => ms * 1.5),
    );
    await next;
    const more = watcher.next(1);
    await api.called(({ watch }) => watch);
    clock.advance(119_000);
    api.endWatches('reset');
    assert.equal(await clock.timer(isBackoff), 45_000);
    clock.advance(45_000);
    await api.called((call) => call === trial.watches()[1]);
    clock.advance(121_000);
    api.endWatches('reset');
    assert.equal(await clock.timer(isBackoff), 1200);
    clock.advance(1200);
    api.put(ALL, pod('a'));
    await more;
  });

  test('silence: a watch that does not end when it should is left', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    const watcher = trial.follow();
    await watcher.next(2);
    const next = watcher.next(1);
    await api.called(({ watch }) => watch);
    api.fault(({ watch, response }) => {
      const first = watch && trial.watches().length === 1;
      if (first) response.writeHead(200).flushHeaders();
      return first;
    });
    clock.advance(304_999);
    assert.equal(trial.watches().length, 1);
    clock.advance(1);
    await clock.timer((ms) => ms === 800);
    clock.advance(800);
    await api.called((call) => call === trial.watches()[1]);
    api.put(ALL, pod('a'));
    assert.deepEqual(await next, ['Apply a']);
  });

  test('a server that ends every watch at once is not asked in a loop', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    api.fault(({ watch, response }) => watch && (answer(response, 200, ''), true));
    const watcher = trial.follow();
    await watcher.next(2);
    void watcher.next(1);
    await clock.timer((ms) => ms === 800);
    clock.advance(800);
    await clock.timer((ms) => ms === 1600);
    assert.equal(trial.watches().length, 2);
  });

  test('ends with its signal, also while it waits', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    api.fault(({ response }) => (response.destroy(), true));
    const watcher = trial.follow();
    const next = watcher.next(2);
    await clock.timer(isBackoff);
    trial.abort.abort();
    assert.deepEqual(await next, ['Init']);
  });

  test('progress: says what it hangs on, and that it is well again before the first event', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    api.faultOnce(({ watch, response }) => watch && (answer(response, 403, failure(403, 'Forbidden')), true));
    const watcher = trial.follow();
    await watcher.next(2);
    const next = watcher.next(3);
    await clock.timer(isBackoff);
    const waiting = watcher.progress.at(-1);
    assert.ok(waiting?.state === 'waiting' && waiting.delayMs === 800);
    assert.match(String(waiting.error), /Forbidden/);
    clock.advance(800);
    await api.called((call) => call === trial.watches()[1]);
    api.put(ALL, pod('a'));
    assert.deepEqual(await next, ['Init', 'InitDone', 'Apply a']);
    assert.deepEqual(
      watcher.progress.map(({ state }) => state),
      ['listing', 'waiting', 'listing', 'watching'],
    );
  });
});
