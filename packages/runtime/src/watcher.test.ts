import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import type { ResourceClient } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { answer, FakeApi, type FakeCall, failure } from './testing/fake-api.ts';
import {
  watchResource,
  type WatcherEvent,
  type WatcherProgress,
  type WatchResourceOptions,
  type WatchSource,
} from './watcher.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const ALL = '/api/v1/pods';
const pod = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'n' } });

/** `Init`, `InitApply a`, …: what a watcher told. */
const told = (event: WatcherEvent<KubeObject>): string =>
  'object' in event ? `${event.type} ${event.object.metadata?.name}` : event.type;

let api: FakeApi;
let clock: ManualClock;
let abort: AbortController;

beforeEach(async () => {
  api = await FakeApi.start();
  clock = new ManualClock();
  abort = new AbortController();
});

afterEach(async () => {
  abort.abort();
  await api[Symbol.asyncDispose]();
});

interface Followed {
  progress: WatcherProgress[];
  /** The next events, as {@link told}. */
  next(count: number): Promise<string[]>;
}

function follow(
  source?: ResourceClient | (() => WatchSource<KubeObject>),
  options: Partial<WatchResourceOptions> = {},
): Followed {
  const progress: WatcherProgress[] = [];
  const events = watchResource(source ?? api.client().resource(PODS), {
    signal: abort.signal,
    clock,
    random: () => 0,
    onProgress: (step) => progress.push(step),
    ...options,
  });
  return {
    progress,
    async next(count) {
      const seen: string[] = [];
      while (seen.length < count) {
        const { value, done } = await events.next();
        if (done) break;
        seen.push(told(value as WatcherEvent<KubeObject>));
      }
      return seen;
    },
  };
}

/** Whether the server has come as far as what was seen. */
const isQuestion = ({ query }: FakeCall): boolean => query.get('limit') === '1';
const lists = () => api.calls.filter((call) => !call.watch && !isQuestion(call));
const watches = () => api.calls.filter(({ watch }) => watch);
const isBackoff = (ms: number): boolean => ms <= 60_000;

describe('watchResource', () => {
  test('lists in pages, then watches from the list on', async () => {
    for (const name of ['a', 'b', 'c']) api.put(ALL, pod(name));
    const watcher = follow(undefined, { pageSize: 2 });
    assert.deepEqual(await watcher.next(5), ['Init', 'InitApply a', 'InitApply b', 'InitApply c', 'InitDone']);
    const next = watcher.next(2);
    await api.called(({ watch }) => watch);
    api.put(ALL, pod('a'));
    api.remove(ALL, 'b', 'n');
    assert.deepEqual(await next, ['Apply a', 'Delete b']);
    const [first, second] = lists();
    assert.equal(first?.query.get('resourceVersion'), '0');
    assert.equal(second?.query.get('continue'), '2');
    assert.equal(second?.query.get('resourceVersion'), null, 'a continue token stands alone');
    const query = watches()[0]?.query;
    assert.equal(query?.get('resourceVersion'), '103');
    assert.equal(query?.get('allowWatchBookmarks'), 'true');
    assert.equal(query?.get('timeoutSeconds'), '300');
  });

  test('a watch that ends is taken up from the last bookmark, without a list', async () => {
    const watcher = follow();
    await watcher.next(2);
    const next = watcher.next(1);
    await api.called(({ watch }) => watch);
    api.put('/api/v1/nodes', pod('elsewhere'));
    api.bookmark();
    api.endWatches();
    await api.called(({ watch, query }) => watch && query.get('resourceVersion') === '101');
    api.put(ALL, pod('a'));
    assert.deepEqual(await next, ['Apply a']);
    assert.equal(lists().length, 1);
  });

  test('half an event and a reset: resumes after a delay, and the event comes again', async () => {
    const watcher = follow();
    await watcher.next(2);
    const next = watcher.next(1);
    const { response } = await api.called(({ watch }) => watch);
    response.write('{"type":"ADDED","object":{"metadata":{"na');
    api.endWatches('reset');
    assert.equal(await clock.timer(isBackoff), 800);
    api.put(ALL, pod('a'));
    clock.advance(800);
    assert.deepEqual(await next, ['Apply a']);
    assert.equal(lists().length, 1);
  });

  test('a server that answers again: the wait is over, however long it has become, and the next failure is a first one', async () => {
    const back: ((again: boolean) => void)[] = [];
    const client = api.client().resource(PODS);
    const watcher = follow(() => ({ client, answersAgain: () => new Promise((resolve) => back.push(resolve)) }));
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
    const client = api.client().resource(PODS);
    let asked = 0;
    const watcher = follow(() => ({ client, answersAgain: async () => (asked++, false) }));
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

  test('410 on resuming: a new list, no older than what was seen', async () => {
    api.put(ALL, pod('a'));
    const watcher = follow();
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
    assert.equal(lists()[1]?.query.get('resourceVersion'), '101');
    assert.equal(lists()[1]?.query.get('resourceVersionMatch'), 'NotOlderThan');
  });

  for (const how of ['reset', 'end'] as const) {
    test(`a server that was restored from a backup (watches ${how}): a new list, though it would open the watch`, async () => {
      for (const name of ['a', 'b']) api.put(ALL, pod(name));
      const watcher = follow();
      await watcher.next(4);
      const next = watcher.next(4);
      await api.called(({ watch }) => watch);
      api.restore(50);
      api.endWatches(how);
      for (let wait = 800; !lists()[1]; wait *= 2) {
        await clock.timer((ms) => ms === wait);
        clock.advance(wait);
        await Promise.race([api.called((call) => call === lists()[1]), clock.timer((ms) => ms === wait * 2)]);
      }
      assert.deepEqual(await next, ['Init', 'InitApply a', 'InitApply b', 'InitDone']);
      assert.equal(lists()[1]?.query.get('resourceVersion'), null, 'the newest');
      void watcher.next(1);
      await api.called(({ watch, query }) => watch && query.get('resourceVersion') === '50');
    });
  }

  test('from a resourceVersion that is known: a watch and no list', async () => {
    api.put(ALL, pod('a'));
    const resourceVersion = api.resourceVersion;
    api.put(ALL, pod('b'));
    assert.deepEqual(await follow(undefined, { resourceVersion }).next(1), ['Apply b']);
    assert.deepEqual(lists(), []);
  });

  test('from a resourceVersion that is gone: a list', async () => {
    api.put(ALL, pod('a'));
    const resourceVersion = api.resourceVersion;
    api.put(ALL, pod('b'));
    api.compact();
    const next = follow(undefined, { resourceVersion }).next(4);
    await clock.timer(isBackoff);
    clock.advance(800);
    assert.deepEqual(await next, ['Init', 'InitApply a', 'InitApply b', 'InitDone']);
  });

  test('410 inside a stream: resumes once from the last event, and lists if that is gone too', async () => {
    const watcher = follow();
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
      watches().map(({ query }) => query.get('resourceVersion')),
      ['100', '101'],
    );
  });

  test('a list that the server cannot give so new is asked for as the newest it has', async () => {
    const tooLarge = failure(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
    api.faultOnce(({ response }) => (answer(response, 504, tooLarge), true));
    const watcher = follow();
    const next = watcher.next(3);
    await clock.timer(isBackoff);
    clock.advance(800);
    assert.deepEqual(await next, ['Init', 'Init', 'InitDone']);
    assert.equal(lists()[1]?.query.get('resourceVersion'), null);
  });

  test('429 waits for as long as the server says', async () => {
    api.faultOnce(
      ({ response }) => (answer(response, 429, failure(429, 'TooManyRequests'), { 'retry-after': '7' }), true),
    );
    const watcher = follow();
    const next = watcher.next(2);
    assert.equal(await clock.timer(isBackoff), 7000);
    clock.advance(7000);
    assert.deepEqual(await next, ['Init', 'InitDone']);
  });

  test('5xx on a watch is waited out for a minute, then listed again', async () => {
    const watcher = follow();
    await watcher.next(2);
    const next = watcher.next(2);
    const mend = api.fault(
      ({ watch, response }) => watch && (answer(response, 500, failure(500, 'InternalError')), true),
    );
    let waited = 0;
    while (lists().length === 1) {
      const ms = await Promise.race([clock.timer(isBackoff), api.called((call) => call === lists()[1]).then(() => 0)]);
      clock.advance(ms);
      waited += ms;
    }
    mend();
    assert.deepEqual(await next, ['Init', 'InitDone']);
    assert.ok(waited >= 60_000, `${waited} ms`);
    assert.ok(watches().length > 4);
  });

  test('delays double up to 30 s, get jitter, and are reset by two minutes of health alone', async () => {
    const mend = api.fault(({ response }) => (response.destroy(), true));
    const watcher = follow(undefined, { random: () => 0.5 });
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
    await api.called((call) => call === watches()[1]);
    clock.advance(121_000);
    api.endWatches('reset');
    assert.equal(await clock.timer(isBackoff), 1200);
    clock.advance(1200);
    api.put(ALL, pod('a'));
    await more;
  });

  test('silence: a watch that does not end when it should is left', async () => {
    const watcher = follow();
    await watcher.next(2);
    const next = watcher.next(1);
    await api.called(({ watch }) => watch);
    api.fault(({ watch, response }) => {
      const first = watch && watches().length === 1;
      if (first) response.writeHead(200).flushHeaders();
      return first;
    });
    clock.advance(304_999);
    assert.equal(watches().length, 1);
    clock.advance(1);
    await clock.timer((ms) => ms === 800);
    clock.advance(800);
    await api.called((call) => call === watches()[1]);
    api.put(ALL, pod('a'));
    assert.deepEqual(await next, ['Apply a']);
  });

  test('a server that ends every watch at once is not asked in a loop', async () => {
    api.fault(({ watch, response }) => watch && (answer(response, 200, ''), true));
    const watcher = follow();
    await watcher.next(2);
    void watcher.next(1);
    await clock.timer((ms) => ms === 800);
    clock.advance(800);
    await clock.timer((ms) => ms === 1600);
    assert.equal(watches().length, 2);
  });

  test('the list over the watch; a server that refuses it gets pages', async () => {
    api.put(ALL, pod('a'));
    const streamed = follow(undefined, { initialList: 'stream' });
    assert.deepEqual(await streamed.next(3), ['Init', 'InitApply a', 'InitDone']);
    assert.equal(lists().length, 0);
    const change = streamed.next(1);
    api.put(ALL, pod('b'));
    assert.deepEqual(await change, ['Apply b']);

    api.faultOnce(({ watch, response }) => watch && (answer(response, 422, failure(422, 'Invalid')), true));
    const refused = follow(undefined, { initialList: 'stream' });
    const next = refused.next(5);
    await clock.timer((ms) => ms === 800);
    clock.advance(800);
    assert.deepEqual(await next, ['Init', 'Init', 'InitApply a', 'InitApply b', 'InitDone']);
    assert.equal(lists().length, 1);
  });

  test('a replaced client takes over at once, from where the old one was', async () => {
    let replaced = new AbortController();
    let resource = api.client('old').resource(PODS);
    const watcher = follow(() => ({ client: resource, replaced: replaced.signal }));
    await watcher.next(2);
    const next = watcher.next(1);
    await api.called(({ watch }) => watch);
    api.put('/api/v1/nodes', pod('elsewhere'));
    const before = replaced;
    replaced = new AbortController();
    resource = api.client('new').resource(PODS);
    before.abort();
    await api.called((call) => call === watches()[1]);
    api.put(ALL, pod('a'));
    assert.deepEqual(await next, ['Apply a']);
    assert.equal(lists().length, 1);
    assert.equal(
      watcher.progress.some(({ state }) => state === 'waiting'),
      false,
    );
  });

  test('ends with its signal, also while it waits', async () => {
    api.fault(({ response }) => (response.destroy(), true));
    const watcher = follow();
    const next = watcher.next(2);
    await clock.timer(isBackoff);
    abort.abort();
    assert.deepEqual(await next, ['Init']);
  });

  test('progress: says what it hangs on, and that it is well again before the first event', async () => {
    api.faultOnce(({ watch, response }) => watch && (answer(response, 403, failure(403, 'Forbidden')), true));
    const watcher = follow();
    await watcher.next(2);
    const next = watcher.next(3);
    await clock.timer(isBackoff);
    const waiting = watcher.progress.at(-1);
    assert.ok(waiting?.state === 'waiting' && waiting.delayMs === 800);
    assert.match(String(waiting.error), /Forbidden/);
    clock.advance(800);
    await api.called((call) => call === watches()[1]);
    api.put(ALL, pod('a'));
    assert.deepEqual(await next, ['Init', 'InitDone', 'Apply a']);
    assert.deepEqual(
      watcher.progress.map(({ state }) => state),
      ['listing', 'waiting', 'listing', 'watching'],
    );
  });
});
