import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isOlder } from '../resource-version.ts';
import type { DeletedKey, ObjectRow, Source } from '../row.ts';
import type { SearchStore, WriteCount } from '../search-store.ts';
import { arbitraryRow } from '../testing/arbitrary.ts';
import { createSqliteStore } from './create-sqlite-store.ts';

const PODS: Source = { cluster: 'c1', group: '', version: 'v1', resource: 'pods' };
const NODES: Source = { ...PODS, resource: 'nodes' };
const ELSEWHERE: Source = { ...PODS, cluster: 'c2' };

function row(name: string, resourceVersion = '1', more: Partial<ObjectRow> = {}): ObjectRow {
  return { namespace: 'n', name, kind: 'Pod', uid: name, resourceVersion, createdAt: 0, object: '{}', ...more };
}

function key(name: string, resourceVersion?: string): DeletedKey {
  return { namespace: 'n', name, resourceVersion };
}

function open(): Promise<SearchStore> {
  return createSqliteStore({ file: ':memory:' });
}

/** `name@resourceVersion` of what is stored. */
async function stored(store: SearchStore, { cluster, group, version, resource }: Source = PODS): Promise<string[]> {
  const { rows } = await store.query({ clusters: [cluster], resources: [{ group, version, resource }] });
  return rows.map(({ name, resourceVersion }) => `${name}@${resourceVersion}`);
}

const count = (written: number, unchanged = 0, deleted = 0): WriteCount => ({ written, unchanged, deleted });

test('an older resourceVersion never overwrites a newer one', async () => {
  await using store = await open();
  await store.applyChanges(PODS, { upserts: [row('a', '10'), row('b', '10'), row('c', '10'), row('d', 'x')] });
  const upserts = [row('a', '9'), row('b', '10', { object: '{"other":1}' }), row('c', '11'), row('d', '1')];
  assert.deepEqual(await store.applyChanges(PODS, { upserts }), count(2, 2));
  assert.deepEqual(await stored(store), ['a@10', 'b@10', 'c@11', 'd@1']);
});

test('a deletion that is older than the row is left out', async () => {
  await using store = await open();
  await store.applyChanges(PODS, { upserts: [row('a', '10'), row('b', '10'), row('c', '10'), row('d', '10')] });
  const deletes = [key('a', '9'), key('b', '10'), key('c', '11'), key('d'), key('none')];
  assert.deepEqual(await store.applyChanges(PODS, { deletes }), count(0, 1, 3));
  assert.deepEqual(await stored(store), ['a@10']);
});

test('of changes to one object in one batch the newest stays', async () => {
  await using store = await open();
  await store.applyChanges(PODS, { upserts: [row('a', '1'), row('a', '3', { labels: { is: 'new' } }), row('a', '2')] });
  assert.deepEqual(await stored(store), ['a@3']);
  await store.applyChanges(PODS, { upserts: [row('a', '5')], deletes: [key('a', '4')] });
  assert.deepEqual(await stored(store), ['a@5']);
  await store.applyChanges(PODS, { upserts: [row('a', '6')], deletes: [key('a', '7')] });
  assert.deepEqual(await stored(store), []);
});

test('labels are those of the last version', async () => {
  await using store = await open();
  const byLabel = async (labelKey: string, value: string): Promise<number> =>
    (await store.query({ labels: [{ key: labelKey, operator: '=', values: [value] }] })).rows.length;
  await store.applyChanges(PODS, { upserts: [row('a', '1', { labels: { app: 'x', tier: 'y' } })] });
  await store.applyChanges(PODS, { upserts: [row('a', '2', { labels: { app: 'z' } })] });
  assert.deepEqual([await byLabel('app', 'x'), await byLabel('app', 'z'), await byLabel('tier', 'y')], [0, 1, 0]);
  await store.applyChanges(PODS, { upserts: [row('a', '3')] });
  assert.equal(await byLabel('app', 'z'), 0);
});

test('what is deleted leaves no label behind for a row that comes later', async () => {
  await using store = await open();
  const labels = { app: 'x' };
  for (const drop of [
    () => store.applyChanges(PODS, { deletes: [key('a')] }),
    () => store.dropSource(PODS),
    () => store.dropCluster(PODS.cluster),
    async () => (await store.beginReplace(PODS)).finish('1'),
  ]) {
    await store.applyChanges(PODS, { upserts: [row('a', '1', { labels })] });
    await drop();
    await store.applyChanges(PODS, { upserts: [row('b')] });
    const { rows } = await store.query({ labels: [{ key: 'app', operator: 'exists', values: [] }] });
    assert.deepEqual(rows, []);
    await store.dropSource(PODS);
  }
});

test('a replacement takes every row as the list has it, and deletes what it did not bring', async () => {
  await using store = await open();
  const same = row('same', '5', { labels: { app: 'x' } });
  await store.applyChanges(PODS, {
    upserts: [same, row('older', '5'), row('bytes', '5'), row('gone', '5')],
    watermark: '5',
  });
  await store.applyChanges(NODES, { upserts: [row('node')] });
  await store.applyChanges(ELSEWHERE, { upserts: [row('far')] });
  const replacement = await store.beginReplace(PODS);
  assert.deepEqual(await replacement.add([same, row('older', '3')], {}), count(1, 1));
  assert.deepEqual(await stored(store), ['bytes@5', 'gone@5', 'older@3', 'same@5']);
  assert.deepEqual(await replacement.add([row('bytes', '5', { object: '{"new":1}' }), row('new', '4')], {}), count(2));
  assert.deepEqual(await replacement.finish('4'), count(0, 0, 1));
  assert.deepEqual(await stored(store), ['bytes@5', 'new@4', 'older@3', 'same@5']);
  assert.equal((await store.query({ fields: [{ path: '.new', operator: '=', values: ['1'] }] })).rows.length, 1);
  assert.deepEqual(await store.source(PODS), { ...PODS, watermark: '4' });
  assert.deepEqual([await stored(store, NODES), await stored(store, ELSEWHERE)], [['node@1'], ['far@1']]);
});

test('a list of nothing leaves nothing', async () => {
  await using store = await open();
  await store.applyChanges(PODS, { upserts: [row('a')], watermark: '1' });
  const replacement = await store.beginReplace(PODS);
  assert.deepEqual(await replacement.finish('2'), count(0, 0, 1));
  assert.deepEqual([await stored(store), await store.source(PODS)], [[], { ...PODS, watermark: '2' }]);
});

test('from its first page until its end a replacement has a place to go on and no watermark', async () => {
  await using store = await open();
  await store.applyChanges(PODS, { upserts: [row('a')], watermark: '1' });
  const replacement = await store.beginReplace(PODS);
  assert.deepEqual(await store.source(PODS), { ...PODS, watermark: '1', replacing: {} });
  await replacement.add([row('b')], { continue: 'page 2', resourceVersion: '7' });
  assert.deepEqual(await store.source(PODS), { ...PODS, replacing: { continue: 'page 2', resourceVersion: '7' } });
  await replacement.finish('7');
  assert.deepEqual(await store.source(PODS), { ...PODS, watermark: '7' });
});

test('an interrupted replacement goes on, and knows what its pages brought', async () => {
  await using store = await open();
  await store.applyChanges(PODS, { upserts: [row('a'), row('b'), row('c')] });
  const first = await store.beginReplace(PODS, { resume: true });
  assert.deepEqual(first.progress, {});
  await first.add([row('a')], { continue: 'page 2' });
  const second = await store.beginReplace(PODS, { resume: true });
  assert.deepEqual(second.progress, { continue: 'page 2' });
  await second.add([row('b')], {});
  assert.deepEqual(await second.finish('9'), count(0, 0, 1));
  assert.deepEqual(await stored(store), ['a@1', 'b@1']);
  await assert.rejects(first.add([row('z')], {}), { code: 'SUPERSEDED' });
});

test('a replacement that begins anew forgets what the one before brought', async () => {
  await using store = await open();
  const first = await store.beginReplace(PODS);
  await first.add([row('a')], { continue: 'page 2' });
  const second = await store.beginReplace(PODS);
  assert.deepEqual(second.progress, {});
  const superseded = { code: 'SUPERSEDED', message: /pods\.v1\. of cluster "c1".*a later one began/ };
  await assert.rejects(first.add([row('z')], {}), superseded);
  await assert.rejects(first.finish('1'), superseded);
  await second.add([row('b')], {});
  await second.finish('2');
  assert.deepEqual(await stored(store), ['b@1']);
  await assert.rejects(second.add([row('z')], {}), superseded);
});

test('a replacement of what was dropped meanwhile has no say', async () => {
  await using store = await open();
  const replacement = await store.beginReplace(PODS);
  await store.dropSource(PODS);
  await store.beginReplace(PODS);
  await assert.rejects(replacement.add([row('a')], {}), { code: 'SUPERSEDED', message: /was dropped/ });
  assert.deepEqual(await stored(store), []);
});

test('sources are known, and forgotten with all they have', async () => {
  await using store = await open();
  assert.deepEqual(await store.source(PODS), PODS);
  for (const source of [PODS, NODES, ELSEWHERE]) {
    await store.applyChanges(source, { upserts: [row('a', '1', { labels: { app: 'x' } }), row('b')], watermark: '1' });
  }
  const named = async (cluster?: string): Promise<string[]> =>
    (await store.sources(cluster)).map((source) => `${source.cluster} ${source.resource} ${source.watermark}`);
  assert.deepEqual(await named(), ['c1 nodes 1', 'c1 pods 1', 'c2 pods 1']);
  assert.deepEqual(await named('c2'), ['c2 pods 1']);
  assert.equal(await store.dropSource(PODS), 2);
  assert.equal(await store.dropSource(PODS), 0);
  assert.deepEqual(await named(), ['c1 nodes 1', 'c2 pods 1']);
  assert.equal(await store.dropCluster('c1'), 2);
  assert.deepEqual(await named(), ['c2 pods 1']);
  const { rows } = await store.query({ labels: [{ key: 'app', operator: 'exists', values: [] }] });
  assert.deepEqual(
    rows.map(({ cluster, name }) => `${cluster} ${name}`),
    ['c2 a'],
  );
  assert.deepEqual(await store.source(PODS), PODS);
});

test('a write with a bad row writes nothing, and names the row', async () => {
  await using store = await open();
  const table: [ObjectRow, RegExp][] = [
    [row('bad', '1', { object: '{"a":' }), /^Pod "n\/bad": object: it is no JSON$/],
    [row('bad', '1', { object: '' }), /object: it is no JSON/],
    [row('bad', '1', { createdAt: 1.5 }), /^Pod "n\/bad": createdAt: 1.5 is no whole number of milliseconds$/],
    [row('', '1', { namespace: '' }), /^Pod "": name: it is empty$/],
  ];
  for (const [bad, message] of table) {
    const invalid = { code: 'INVALID_ROW', message };
    await assert.rejects(store.applyChanges(PODS, { upserts: [row('a'), bad, row('b')], watermark: '1' }), invalid);
    const replacement = await store.beginReplace(PODS);
    await assert.rejects(replacement.add([row('a'), bad], { continue: 'x' }), invalid);
    assert.deepEqual((await store.source(PODS)).replacing, {});
  }
  assert.deepEqual([await stored(store), (await store.source(PODS)).watermark], [[], undefined]);
});

test('any batches of changes leave the newest of each object', async () => {
  const change = fc.record({ row: arbitraryRow, isDeleted: fc.boolean() });
  const batches = fc.array(fc.array(change, { maxLength: 100 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      await using store = await open();
      const expected = new Map<string, ObjectRow>();
      for (const batch of all) {
        const upserts = batch.filter(({ isDeleted }) => !isDeleted).map((each) => each.row);
        const deletes = batch.filter(({ isDeleted }) => isDeleted).map((each) => each.row);
        await store.applyChanges(PODS, { upserts, deletes });
        for (const each of upserts) {
          const there = expected.get(`${each.namespace}/${each.name}`);
          const isSame = there?.uid === each.uid && there.resourceVersion === each.resourceVersion;
          if (!there || !(isSame || isOlder(each.resourceVersion, there.resourceVersion))) {
            expected.set(`${each.namespace}/${each.name}`, each);
          }
        }
        for (const { namespace, name, resourceVersion } of deletes) {
          const there = expected.get(`${namespace}/${name}`);
          if (there && !isOlder(resourceVersion, there.resourceVersion)) expected.delete(`${namespace}/${name}`);
        }
      }
      const { rows } = await store.query({});
      const told = ({
        uid,
        resourceVersion,
        object,
      }: {
        uid: string;
        resourceVersion: string;
        object: Uint8Array | string;
      }) => `${uid} ${resourceVersion} ${typeof object === 'string' ? object : Buffer.from(object).toString()}`;
      assert.deepEqual(
        new Map(rows.map((found) => [`${found.namespace}/${found.name}`, told(found)])),
        new Map([...expected].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([at, found]) => [at, told(found)])),
      );
    }),
    { numRuns: 40 },
  );
});

test('large batches are complete', async () => {
  await using store = await open();
  const rows = Array.from({ length: 1237 }, (_, n) =>
    row(`p${n}`, '1', { labels: { n: String(n) }, object: `{"n":${n}}` }),
  );
  const replacement = await store.beginReplace(PODS);
  assert.deepEqual(await replacement.add(rows, {}), count(1237));
  assert.deepEqual(await replacement.add(rows, {}), count(0, 1237));
  await replacement.finish('1');
  for (const n of [0, 63, 64, 1000, 1236]) {
    const { rows: found } = await store.query({ labels: [{ key: 'n', operator: '=', values: [String(n)] }] });
    assert.deepEqual(
      found.map(({ name, object }) => [name, Buffer.from(object).toString()]),
      [[`p${n}`, `{"n":${n}}`]],
    );
  }
  const deletes = rows.map(({ namespace, name }) => ({ namespace, name }));
  assert.deepEqual(await store.applyChanges(PODS, { deletes }), count(0, 0, 1237));
});
