import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { createMemoryStorage } from './memory-storage.ts';
import { createSqliteStorage } from './sqlite-storage.ts';
import type { Change, Committed, Storage } from './storage.ts';

const folder = await mkdtemp(join(tmpdir(), 'apiserver-storage-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;

const KINDS: readonly (readonly [string, () => Storage])[] = [
  ['memory', createMemoryStorage],
  ['sqlite', () => createSqliteStorage({ file: join(folder, `${files++}.db`) })],
];

function change(name: string, expected: number, type: Change['type'] = 'put', text = ''): Change {
  const encode = (revision: number): Buffer => Buffer.from(`${text}@${revision}`);
  return { type, groupResource: 'pods', namespace: 'ns', name, expected, encode };
}

for (const [kind, create] of KINDS) {
  describe(`${kind} storage`, () => {
    test('gives every change the next revision, and tells of it before it is acknowledged', async () => {
      await using storage = create();
      const told: number[] = [];
      await storage.open(
        (changes) => told.push(...changes.map(({ revision }) => revision)),
        () => {},
      );
      const first = await storage.write([change('a', 0)]);
      assert.deepEqual(told, [1]);
      assert.equal(first.committed?.[0]?.value.toString(), '@1');
      await storage.write([change('a', 1), change('b', 0)]);
      assert.deepEqual(told, [1, 2, 3]);
    });

    test('a conflict changes nothing, not even the revision, and says what is there', async () => {
      await using storage = create();
      await storage.open(
        () => {},
        () => {},
      );
      await storage.write([change('a', 0)]);
      for (const wrong of [
        change('a', 0),
        change('a', 7),
        change('a', 7, 'delete'),
        change('none', 3),
        change('none', 0, 'delete'),
      ]) {
        const outcome = await storage.write([wrong]);
        assert.equal(outcome.committed, undefined);
        if (!outcome.committed) assert.equal(outcome.actual, wrong.name === 'a' ? 1 : 0);
      }
      const next = await storage.write([change('a', 1)]);
      assert.equal(next.committed?.[0]?.revision, 2);
    });

    test('of several changes that belong together all are made or none', async () => {
      await using storage = create();
      const told: Committed[] = [];
      await storage.open(
        (changes) => told.push(...changes),
        () => {},
      );
      const outcome = await storage.write([change('a', 0), change('b', 5)]);
      assert.equal(outcome.committed, undefined);
      assert.equal(told.length, 0);
      assert.ok((await storage.write([change('a', 0)])).committed, 'a was not made before');
    });

    test('an encoder that throws fails its own write and no other', async () => {
      await using storage = create();
      await storage.open(
        () => {},
        () => {},
      );
      const broken: Change = {
        ...change('a', 0),
        encode: () => {
          throw new RangeError('too deep');
        },
      };
      const [failed, fine] = await Promise.allSettled([storage.write([broken]), storage.write([change('b', 0)])]);
      assert.equal(failed.status, 'rejected');
      assert.equal(fine.status === 'fulfilled' && fine.value.committed?.[0]?.revision, 1);
    });

    test('does what a map does, whatever the order of writes', async () => {
      const step = fc.record({
        name: fc.constantFrom('a', 'b', 'c'),
        type: fc.constantFrom('put' as const, 'delete' as const),
        stale: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          await using storage = create();
          await storage.open(
            () => {},
            () => {},
          );
          const model = new Map<string, number>();
          let revision = 0;
          for (const { name, type, stale } of steps) {
            const expected = stale ? 999 : (model.get(name) ?? 0);
            const outcome = await storage.write([change(name, expected, type)]);
            const possible = !stale && (type === 'put' || expected > 0);
            assert.equal(outcome.committed !== undefined, possible);
            if (!possible) continue;
            revision++;
            assert.equal(outcome.committed?.[0]?.revision, revision);
            if (type === 'put') model.set(name, revision);
            else model.delete(name);
          }
        }),
        { numRuns: 25 },
      );
    });
  });
}
