import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ResourceType, WatchEvent } from '@asterism/machinery';
import { SubtreePool } from './subtree-pool.ts';
import { json, scripted } from './testing/scripted-transport.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const item = (name: string) => ({ metadata: { name, labels: { app: 'web' }, managedFields: [{}] }, spec: { a: [1] } });
const pod = (name: string) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, labels: { app: 'web' } },
  spec: { a: [1] },
});
const list = (items: unknown, metadata: object = { resourceVersion: '5' }) => ({ kind: 'PodList', metadata, items });

describe('with a pool of subtrees', () => {
  test('a list: items say what they are, equal parts are one, the rest is as it came', async () => {
    const subtrees = new SubtreePool();
    const metadata = { resourceVersion: '5', continue: 'ä', remainingItemCount: 3 };
    for (const indent of [0, 2]) {
      const body = JSON.stringify(list(['a', 'b', 'c'].map(item), metadata), null, indent);
      const found = await scripted({ body }).client().resource(PODS).list({ subtrees });
      assert.deepEqual(found, list(['a', 'b', 'c'].map(pod), metadata));
      assert.equal(found.items[2]?.metadata?.labels, found.items[1]?.metadata?.labels);
      assert.ok(Object.isFrozen(found.items[0]));
    }
  });

  for (const [name, items] of Object.entries({ none: [], null: null, absent: undefined })) {
    test(`a list of nothing: ${name}`, async () => {
      const found = await scripted(json(list(items)))
        .client()
        .resource(PODS)
        .list({ subtrees: new SubtreePool() });
      assert.deepEqual([found.items, found.metadata], [[], { resourceVersion: '5' }]);
    });
  }

  test('metadata alone, with a pool or without, also of a server that sends all', async () => {
    for (const subtrees of [new SubtreePool(), undefined]) {
      const { requests, client } = scripted(json(list([item('a')])), { body: `${event('ADDED', item('b'))}\n` });
      const options = { metadataOnly: true, subtrees, cutManagedFields: true };
      const { items } = await client().resource(PODS).list(options);
      const events = await watched(client().resource(PODS).watch(options));
      const { spec: _, ...a } = pod('a');
      const { spec: __, ...b } = pod('b');
      assert.deepEqual([items, events], [[a], [{ type: 'ADDED', object: b }]]);
      assert.deepEqual(
        requests.map(({ headers }) => headers?.['accept']),
        ['List', ''].map((of) => `application/json;as=PartialObjectMetadata${of};g=meta.k8s.io;v=v1,application/json`),
      );
    }
  });

  test('a watch: objects are shared, bookmarks and errors are as they came, in whatever order members stand', async () => {
    const bookmark = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '7' } };
    const error = { kind: 'Status', code: 410, details: { causes: [{ reason: 'x' }] } };
    const backwards = (type: string, object: object) => `{"object":${JSON.stringify(object)},"type":"${type}"}`;
    const body = [
      event('ADDED', item('a')),
      event('MODIFIED', item('a')),
      backwards('DELETED', item('a')),
      event('BOOKMARK', bookmark),
      backwards('BOOKMARK', bookmark),
      event('ERROR', error),
      backwards('ERROR', error),
    ].join('\n');
    const events = await watched(scripted({ body }).client().resource(PODS).watch({ subtrees: new SubtreePool() }));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'BOOKMARK', 'ERROR', 'ERROR'],
    );
    assert.deepEqual(
      events.map(({ object }) => object),
      [pod('a'), pod('a'), pod('a'), bookmark, bookmark, error, error],
    );
  });

  for (const body of ['{"items":[{"a":1}', '{"items":[{"a":1} {"b":2}]}', '{"items":[1]}', '{"items":[{}]', 'no']) {
    test(`what is not a list is an error: ${body}`, async () => {
      const pods = scripted({ body }).client().resource(PODS);
      await assert.rejects(pods.list({ subtrees: new SubtreePool() }), { code: 'ERR_NOT_JSON' });
    });
  }

  for (const body of ['{"type":"ADDED","object":{"a":', '{"type":"ADDED","object":1}', '{"type":"ADDED","object":{}']) {
    test(`what is not an event is an error: ${body}`, async () => {
      const watch = scripted({ body }).client().resource(PODS).watch({ subtrees: new SubtreePool() });
      await assert.rejects(watched(watch), { code: 'ERR_NOT_JSON' });
    });
  }
});

const event = (type: string, object: object): string => JSON.stringify({ type, object });

async function watched(watch: AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const seen: WatchEvent[] = [];
  for await (const each of watch) seen.push(each);
  return seen;
}
