import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { type CacheEvent, ResourceCache } from './resource-cache.ts';
import { StoredObject } from './stored-object.ts';

function stored(key: string, revision: number): StoredObject {
  return new StoredObject(Buffer.from(`{"key":${JSON.stringify(key)},"at":${revision}}`), revision);
}

function apply(cache: ResourceCache, key: string, type: CacheEvent['type'], revision: number): void {
  const [namespace = ''] = key.includes('/') ? key.split('/') : [''];
  cache.apply({ type, key, namespace, revision, time: 0, object: stored(key, revision), previous: cache.get(key) });
}

function keysAt(cache: ResourceCache, revision: number, prefix = '', start = prefix): string[] | undefined {
  const entries = cache.entriesAt(revision, prefix, start);
  return entries && [...entries].map(([key, object]) => `${key}@${object.revision}`);
}

describe('resource cache', () => {
  test('lists in the byte order of namespace/name, as etcd does', () => {
    const cache = new ResourceCache(0);
    for (const [index, key] of ['b/x', 'a/z', 'a-b/x', 'a/b.c', 'a/b-c', 'a/b'].entries())
      apply(cache, key, 'put', index + 1);
    const keys = [...cache.entries('', '')].map(([key]) => key);
    assert.deepEqual(keys, ['a-b/x', 'a/b', 'a/b-c', 'a/b.c', 'a/z', 'b/x']);
    assert.deepEqual(
      [...cache.entries('a/', 'a/')].map(([key]) => key),
      ['a/b', 'a/b-c', 'a/b.c', 'a/z'],
    );
  });

  test('an earlier moment is seen as it was, at every prefix and start', () => {
    const step = fc.record({
      key: fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1'),
      type: fc.constantFrom('put' as const, 'delete' as const),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom('', 'a/', 'b/'), (steps, prefix) => {
        const cache = new ResourceCache(0);
        const model = new Map<string, number>();
        const history: string[][] = [[]];
        let revision = 0;
        for (const { key, type } of steps) {
          if (type === 'delete' && !model.has(key)) continue;
          revision++;
          apply(cache, key, type, revision);
          if (type === 'delete') model.delete(key);
          else model.set(key, revision);
          const selected = [...model].filter(([each]) => each.startsWith(prefix));
          history.push(selected.map(([each, at]) => `${each}@${at}`).sort((a, b) => (a < b ? -1 : 1)));
        }
        for (const [at, expected] of history.entries()) {
          if (at === 0) continue;
          assert.deepEqual(keysAt(cache, at, prefix), expected, `at ${at}`);
          const start = expected[1]?.split('@')[0];
          if (start === undefined) continue;
          assert.deepEqual(keysAt(cache, at, prefix, start), expected.slice(1));
          assert.equal(cache.countAt(at, prefix, start), expected.length - 1);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('what is forgotten is not made up', () => {
    const cache = new ResourceCache(0);
    for (let revision = 1; revision <= 200; revision++) apply(cache, `a/${revision % 5}`, 'put', revision);
    for (let i = 0; i < 150; i++) cache.forgetOldest();
    assert.equal(keysAt(cache, 149), undefined);
    assert.equal(cache.eventsAfter(149), undefined);
    assert.equal(cache.eventsAfter(150)?.length, 50);
    assert.equal(keysAt(cache, 150)?.length, 5);
  });

  test('what is forgotten is held no longer', async () => {
    const cache = new ResourceCache(0);
    for (let revision = 1; revision <= 10; revision++) apply(cache, 'a', 'put', revision);
    const old = cache
      .eventsAfter(0)!
      .slice(0, 9)
      .map(({ object }) => new WeakRef(object));
    for (let i = 0; i < 10; i++) cache.forgetOldest();
    await setImmediate(); // A WeakRef that was just made holds until then.
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    assert.ok(old.every((each) => each.deref() === undefined));
  });
});
