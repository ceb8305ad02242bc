import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answer, failure } from '../testing/fake-api.ts';
import { ALL, isBackoff, pod, PODS, WatcherTrial } from '../testing/watcher-trial.ts';

describe('watchResource', () => {
  test('lists in pages, then watches from the list on', async () => {
    await using trial = await WatcherTrial.start();
    const { api } = trial;
    for (const name of ['a', 'b', 'c']) api.put(ALL, pod(name));
    const watcher = trial.follow(undefined, { pageSize: 2 });
    assert.deepEqual(await watcher.next(5), ['Init', 'InitApply a', 'InitApply b', 'InitApply c', 'InitDone']);
    const next = watcher.next(2);
    await api.called(({ watch }) => watch);
    api.put(ALL, pod('a'));
    api.remove(ALL, 'b', 'n');
    assert.deepEqual(await next, ['Apply a', 'Delete b']);
    const [first, second] = trial.lists();
    assert.equal(first?.query.get('resourceVersion'), '0');
    assert.equal(second?.query.get('continue'), '2');
    assert.equal(second?.query.get('resourceVersion'), null, 'a continue token stands alone');
    const query = trial.watches()[0]?.query;
    assert.equal(query?.get('resourceVersion'), '103');
    assert.equal(query?.get('allowWatchBookmarks'), 'true');
    assert.equal(query?.get('timeoutSeconds'), '300');
  });

  test('a watch that ends is taken up from the last bookmark, without a list', async () => {
    await using trial = await WatcherTrial.start();
    const { api } = trial;
    const watcher = trial.follow();
    await watcher.next(2);
    const next = watcher.next(1);
    await api.called(({ watch }) => watch);
    api.put('/api/v1/nodes', pod('elsewhere'));
    api.bookmark();
    api.endWatches();
    await api.called(({ watch, query }) => watch && query.get('resourceVersion') === '101');
    api.put(ALL, pod('a'));
    assert.deepEqual(await next, ['Apply a']);
    assert.equal(trial.lists().length, 1);
  });

  test('410 on resuming: a new list, no older than what was seen', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    api.put(ALL, pod('a'));
    const watcher = trial.follow();
    await watcher.next(3);
    const next = watcher.next(3);
    await api.called(({ watch }) => watch);
    api.faultOnce(({ watch, response }) => watch && (answer(response, 410, failure(410, 'Expired')), true));
    api.endWatches('reset');
    await clock.timer((ms) => ms === 800);
    clock.advance(800);
    await clock.timer((ms) => ms === 1600);
    clock.advance(1600);
    assert.deepEqual(await next, ['Init', 'InitApply a', 'InitDone']);
    assert.equal(trial.lists()[1]?.query.get('resourceVersion'), '101');
    assert.equal(trial.lists()[1]?.query.get('resourceVersionMatch'), 'NotOlderThan');
  });

  for (const how of ['reset', 'end'] as const) {
    test(`a server that was restored from a backup (watches ${how}): a new list, though it would open the watch`, async () => {
      await using trial = await WatcherTrial.start();
      const { api, clock } = trial;
      for (const name of ['a', 'b']) api.put(ALL, pod(name));
      const watcher = trial.follow();
      await watcher.next(4);
      const next = watcher.next(4);
      await api.called(({ watch }) => watch);
      api.restore(50);
      api.endWatches(how);
      for (let wait = 800; !trial.lists()[1]; wait *= 2) {
        await clock.timer((ms) => ms === wait);
        clock.advance(wait);
        await Promise.race([api.called((call) => call === trial.lists()[1]), clock.timer((ms) => ms === wait * 2)]);
      }
      assert.deepEqual(await next, ['Init', 'InitApply a', 'InitApply b', 'InitDone']);
      assert.equal(trial.lists()[1]?.query.get('resourceVersion'), null, 'the newest');
      void watcher.next(1);
      await api.called(({ watch, query }) => watch && query.get('resourceVersion') === '50');
    });
  }

  test('from a resourceVersion that is known: a watch and no list', async () => {
    await using trial = await WatcherTrial.start();
    const { api } = trial;
    api.put(ALL, pod('a'));
    const resourceVersion = api.resourceVersion;
    api.put(ALL, pod('b'));
    assert.deepEqual(await trial.follow(undefined, { resourceVersion }).next(1), ['Apply b']);
    assert.deepEqual(trial.lists(), []);
  });

  test('from a resourceVersion that is gone: a list', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    api.put(ALL, pod('a'));
    const resourceVersion = api.resourceVersion;
    api.put(ALL, pod('b'));
    api.compact();
    const next = trial.follow(undefined, { resourceVersion }).next(4);
    await clock.timer(isBackoff);
    clock.advance(800);
    assert.deepEqual(await next, ['Init', 'InitApply a', 'InitApply b', 'InitDone']);
  });

  test('410 inside a stream: resumes once from the last event, and lists if that is gone too', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    const watcher = trial.follow();
    await watcher.next(2);
    const next = watcher.next(4);
    await api.called(({ watch }) => watch);
    api.put(ALL, pod('a'));
    api.toWatches({ type: 'ERROR', object: failure(410, 'Expired') });
    await clock.timer((ms) => ms === 800);
    api.compact();
    api.put('/api/v1/nodes', pod('elsewhere'));
    api.compact();
    clock.advance(800);
    await clock.timer((ms) => ms === 1600);
    clock.advance(1600);
    assert.deepEqual(await next, ['Apply a', 'Init', 'InitApply a', 'InitDone']);
    assert.deepEqual(
      trial.watches().map(({ query }) => query.get('resourceVersion')),
      ['100', '101'],
    );
  });

  test('a list that the server cannot give so new is asked for as the newest it has', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    const tooLarge = failure(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
    api.faultOnce(({ response }) => (answer(response, 504, tooLarge), true));
    const watcher = trial.follow();
    const next = watcher.next(3);
    await clock.timer(isBackoff);
    clock.advance(800);
    assert.deepEqual(await next, ['Init', 'Init', 'InitDone']);
    assert.equal(trial.lists()[1]?.query.get('resourceVersion'), null);
  });

  test('the list over the watch; a server that refuses it gets pages', async () => {
    await using trial = await WatcherTrial.start();
    const { api } = trial;
    api.put(ALL, pod('a'));
    const streamed = trial.follow(undefined, { initialList: 'stream' });
    assert.deepEqual(await streamed.next(3), ['Init', 'InitApply a', 'InitDone']);
    assert.equal(trial.lists().length, 0);
    const change = streamed.next(1);
    api.put(ALL, pod('b'));
    assert.deepEqual(await change, ['Apply b']);

    api.faultOnce(({ watch, response }) => watch && (answer(response, 422, failure(422, 'Invalid')), true));
    const refused = trial.follow(undefined, { initialList: 'stream' });
    assert.deepEqual(await refused.next(5), ['Init', 'Init', 'InitApply a', 'InitApply b', 'InitDone']);
    assert.equal(trial.lists().length, 1);
  });

  test('a server that knows nothing of a list over the watch, and so never ends it, is asked for pages', async () => {
    await using trial = await WatcherTrial.start();
    const { api, clock } = trial;
    api.put(ALL, pod('a'));
    api.fault(({ query, response }) => {
      if (!query.has('sendInitialEvents')) return false;
      response.writeHead(200).write(`${JSON.stringify({ type: 'ADDED', object: pod('a') })}\n`);
      return true;
    });
    const watcher = trial.follow(undefined, { initialList: 'stream' });
    assert.deepEqual(await watcher.next(2), ['Init', 'InitApply a']);
    const next = watcher.next(3);
    for (let pause = 0; pause < 2; pause++) {
      await clock.timer((ms) => ms === 10_000);
      clock.advance(10_000);
    }
    assert.deepEqual(await next, ['Init', 'InitApply a', 'InitDone']);
    assert.equal(
      watcher.progress.some(({ state }) => state === 'waiting'),
      false,
    );
  });

  test('a replaced client takes over at once, from where the old one was', async () => {
    await using trial = await WatcherTrial.start();
    const { api } = trial;
    let replaced = new AbortController();
    let resource = api.client('old').resource(PODS);
    const watcher = trial.follow(() => ({ client: resource, replaced: replaced.signal }));
    await watcher.next(2);
    const next = watcher.next(1);
    await api.called(({ watch }) => watch);
    api.put('/api/v1/nodes', pod('elsewhere'));
    const before = replaced;
    replaced = new AbortController();
    resource = api.client('new').resource(PODS);
    before.abort();
    await api.called((call) => call === trial.watches()[1]);
    api.put(ALL, pod('a'));
    assert.deepEqual(await next, ['Apply a']);
    assert.equal(trial.lists().length, 1);
    assert.equal(
      watcher.progress.some(({ state }) => state === 'waiting'),
      false,
    );
  });
});
