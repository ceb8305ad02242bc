import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Patch, WatchItem, WatchOptions } from './registry.ts';
import { describeItem, nextEvents, openTestRegistry, type TestRegistry } from '../compose/testing/test-registry.ts';

const NAMESPACE = { namespace: 'default' };

function merge(body: object): Patch {
  return { type: 'merge', body };
}

async function patch(t: TestRegistry, name: string, body: object): Promise<void> {
  await t.registry.patch(t.resource('v1/configmaps'), { ...NAMESPACE, name }, merge(body), t.context());
}

async function remove(t: TestRegistry, name: string): Promise<void> {
  await t.registry.delete(t.resource('v1/configmaps'), { ...NAMESPACE, name }, {}, t.context());
}

function watch(t: TestRegistry, options: WatchOptions) {
  return t.registry.watch(t.resource('v1/configmaps'), { ...NAMESPACE, ...options });
}

describe('watch', () => {
  test('without a resourceVersion begins with what is there', async () => {
    await using t = await openTestRegistry();
    for (const name of ['b', 'a']) await t.create('v1/configmaps', { metadata: { name } });
    const stream = await watch(t, {});
    await t.create('v1/configmaps', { metadata: { name: 'c' } });
    await patch(t, 'a', { data: { x: '1' } });
    await remove(t, 'b');
    assert.deepEqual(await nextEvents(stream, 5), ['ADDED a', 'ADDED b', 'ADDED c', 'MODIFIED a', 'DELETED b']);
  });

  test('from a resourceVersion tells what happened since, and nothing twice', async () => {
    await using t = await openTestRegistry();
    const first = await t.create('v1/configmaps', { metadata: { name: 'a' } });
    await t.create('v1/configmaps', { metadata: { name: 'b' } });
    await remove(t, 'a');
    const stream = await watch(t, { resourceVersion: first.metadata?.resourceVersion });
    await t.create('v1/configmaps', { metadata: { name: 'c' } });
    assert.deepEqual(await nextEvents(stream, 3), ['ADDED b', 'DELETED a', 'ADDED c']);
  });

  test('an object that enters or leaves the selection is added or deleted', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a' } });
    const items: WatchItem[] = [];
    const stream = await watch(t, { labelSelector: 'tier=web', resourceVersion: t.registry.resourceVersion });
    await patch(t, 'a', { metadata: { labels: { tier: 'web' } } });
    await patch(t, 'a', { data: { x: '1' } });
    await patch(t, 'a', { metadata: { labels: { tier: 'db' } } });
    await patch(t, 'a', { data: { x: '2' } });
    await patch(t, 'a', { metadata: { labels: { tier: 'web' } } });
    await remove(t, 'a');
    items.push(...stream.take());
    assert.deepEqual(items.map(describeItem), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a']);
    const left = items[2]?.object.parse();
    assert.deepEqual(left?.metadata?.labels, { tier: 'web' }, 'the watcher sees what it knew');
    assert.equal(Number(left?.metadata?.resourceVersion) > Number(items[1]?.object.resourceVersion), true);
  });

  test('with field selectors follows a pod from phase to phase', async () => {
    await using t = await openTestRegistry();
    const pods = t.resource('v1/pods');
    const stream = await t.registry.watch(pods, { ...NAMESPACE, fieldSelector: 'status.phase=Running' });
    await t.create('v1/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    for (const phase of ['Running', 'Succeeded', 'Running']) {
      const body = { status: { phase } };
      await t.registry.patch(pods, { ...NAMESPACE, name: 'p' }, merge(body), t.context({ subresource: 'status' }));
    }
    assert.deepEqual(stream.take().map(describeItem), ['ADDED p', 'DELETED p', 'ADDED p']);
  });

  test('sendInitialEvents ends the beginning with an annotated bookmark', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a' } });
    const options = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowBookmarks: true };
    const stream = await watch(t, options);
    const [added, bookmark] = stream.take();
    assert.equal(added?.type, 'ADDED');
    assert.deepEqual(bookmark?.object.parse(), {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: t.registry.resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
    });
    await assert.rejects(
      watch(t, { sendInitialEvents: true }),
      /sendInitialEvents requires setting resourceVersionMatch/,
    );
  });

  test('bookmarks come in their time, to those who asked, at the newest revision', async () => {
    await using t = await openTestRegistry({ bookmarkMilliseconds: 5 });
    const asked = await watch(t, { allowBookmarks: true });
    const notAsked = await watch(t, {});
    await t.create('v1/secrets', { metadata: { name: 'of-another-kind' } });
    let bookmark: WatchItem | undefined;
    for await (const item of asked) {
      bookmark = item;
      if (item.object.resourceVersion === t.registry.resourceVersion) break;
    }
    assert.equal(bookmark?.type, 'BOOKMARK');
    assert.deepEqual(notAsked.take(), []);
  });

  test('too old a resourceVersion is one ERROR event, and the end', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a' } });
    await using again = await openTestRegistry({ storage: await storageOf(t) });
    const stream = await watch(again, { resourceVersion: '1' });
    const events: WatchItem[] = [];
    for await (const item of stream) events.push(item);
    assert.equal(events.length, 1);
    assert.equal(events[0]?.type, 'ERROR');
    const status = events[0].object.parse();
    assert.equal(status.reason, 'Expired');
    assert.equal(status.code, 410);
    assert.equal(JSON.parse(events[0].line().toString()).type, 'ERROR');
  });

  test('a resourceVersion of the future is an open and empty watch until it comes', async () => {
    await using t = await openTestRegistry();
    const future = Number(t.registry.resourceVersion) + 1;
    const stream = await watch(t, { resourceVersion: String(future) });
    await t.create('v1/configmaps', { metadata: { name: 'a' } });
    await t.create('v1/configmaps', { metadata: { name: 'b' } });
    assert.deepEqual(stream.take().map(describeItem), ['ADDED b']);
  });

  test('a watcher that does not keep up gets what it was promised, and then the end', async () => {
    await using t = await openTestRegistry({ watchQueueLimit: 3 });
    const stream = await watch(t, {});
    for (const name of ['a', 'b', 'c', 'd', 'e']) await t.create('v1/configmaps', { metadata: { name } });
    assert.deepEqual(await nextEvents(stream, 9), ['ADDED a', 'ADDED b', 'ADDED c']);
  });

  test('a watcher that does not keep up holds no more than some MB', async () => {
    await using t = await openTestRegistry();
    const stream = await watch(t, {});
    const data = { text: 'x'.repeat(1_000_000) };
    for (let count = 0; count < 24; count++)
      await t.create('v1/configmaps', { metadata: { name: `big-${count}` }, data });
    const events = await nextEvents(stream, 24);
    assert.ok(events.length >= 16 && events.length < 20, `${events.length} events waited`);
  });

  test('ends with its signal, and with the registry', async () => {
    await using t = await openTestRegistry();
    const abort = new AbortController();
    const bySignal = nextEvents(await watch(t, { signal: abort.signal }), 1);
    const byClose = nextEvents(await watch(t, {}), 1);
    abort.abort();
    assert.deepEqual(await bySignal, []);
    await t.registry.close();
    assert.deepEqual(await byClose, []);
  });

  test('one event is encoded once for all who watch', async () => {
    await using t = await openTestRegistry();
    const streams = await Promise.all([watch(t, {}), watch(t, { labelSelector: 'a=b' }), watch(t, {})]);
    await t.create('v1/configmaps', { metadata: { name: 'a', labels: { a: 'b' } } });
    const lines = streams.map((stream) => stream.take()[0]?.line());
    assert.ok(lines[0]);
    assert.equal(lines[1], lines[0]);
    assert.equal(lines[2], lines[0]);
  });

  test('a list and the watch from its resourceVersion together tell the state, whatever happens between', async () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      verb: fc.constantFrom('put', 'delete'),
      label: fc.constantFrom('x', 'y'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.nat(25), async (steps, listAt) => {
        await using t = await openTestRegistry();
        const configMaps = t.resource('v1/configmaps');
        const selection = { ...NAMESPACE, labelSelector: 'l=x' };
        const known = new Map<string, string>();
        let from = '';
        const list = async (): Promise<void> => {
          const { items, resourceVersion } = await t.registry.list(configMaps, selection);
          from = resourceVersion;
          for (const item of items) known.set(item.parse().metadata?.name ?? '', item.resourceVersion);
        };
        for (const [index, { name, verb, label }] of steps.entries()) {
          if (index === listAt) await list();
          const exists = await t.get('v1/configmaps', name).then(
            () => true,
            () => false,
          );
          if (verb === 'delete' && exists) await remove(t, name);
          else if (verb === 'put' && exists)
            await patch(t, name, { metadata: { labels: { l: label } }, data: { n: String(index) } });
          else if (verb === 'put') await t.create('v1/configmaps', { metadata: { name, labels: { l: label } } });
        }
        if (from === '') await list();
        const stream = await t.registry.watch(configMaps, { ...selection, resourceVersion: from });
        for (const { type, object } of [...stream.take(), ...stream.take()]) {
          const name = object.parse().metadata?.name ?? '';
          assert.equal(type === 'ADDED', !known.has(name), `${type} ${name}`);
          if (type === 'DELETED') known.delete(name);
          else known.set(name, object.resourceVersion);
        }
        const { items } = await t.registry.list(configMaps, selection);
        const now = items.map((item): [string, string] => [item.parse().metadata?.name ?? '', item.resourceVersion]);
        assert.deepEqual([...known].sort(byName), now);
      }),
      { numRuns: 30 },
    );
  });
});

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}

/** The storage of a registry that is closed, which has forgotten its history. */
async function storageOf(t: TestRegistry) {
  const { createMemoryStorage } = await import('../storage/memory-storage.ts');
  const storage = createMemoryStorage();
  await storage.open(
    () => {},
    () => {},
  );
  await storage.write(
    Array.from({ length: Number(t.registry.resourceVersion) }, (_, index) => ({
      type: 'put' as const,
      groupResource: 'secrets',
      namespace: '',
      name: `s${index}`,
      expected: 0,
      encode: (revision: number) =>
        Buffer.from(
          `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s${index}","resourceVersion":"${revision}"}}`,
        ),
    })),
  );
  await storage.close();
  return storage;
}
