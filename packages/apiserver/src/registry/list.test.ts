import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import type { ListOptions } from './registry.ts';
import { encodeContinueToken } from './continue-token.ts';
import { names, openTestRegistry, type TestRegistry } from '../compose/testing/test-registry.ts';

const NAMESPACE = { namespace: 'default' };

async function withConfigMaps(count: number): Promise<TestRegistry> {
  const t = await openTestRegistry();
  for (let i = 0; i < count; i++)
    await t.create('v1/configmaps', { metadata: { name: `cm${i}`, labels: { odd: String(i % 2) } } });
  return t;
}

function list(t: TestRegistry, options: ListOptions = {}) {
  return t.registry.list(t.resource('v1/configmaps'), { ...NAMESPACE, ...options });
}

async function codeOf(promise: Promise<unknown>): Promise<number> {
  return promise.then(
    () => 200,
    (error: unknown) => (isStatusError(error) ? error.code : -1),
  );
}

const TOKEN = encodeContinueToken({ revision: -1, start: 'a' });

describe('list', () => {
  test('pages are one consistent snapshot, though objects come and go between', async () => {
    await using t = await withConfigMaps(7);
    const first = await list(t, { limit: 3 });
    assert.deepEqual(names(first.items), ['cm0', 'cm1', 'cm2']);
    assert.equal(first.remainingItemCount, 4);
    await t.create('v1/configmaps', { metadata: { name: 'cm3b' } });
    await t.registry.delete(t.resource('v1/configmaps'), { ...NAMESPACE, name: 'cm4' }, {}, t.context());
    const second = await list(t, { limit: 3, continue: first.continue });
    assert.deepEqual(names(second.items), ['cm3', 'cm4', 'cm5']);
    assert.equal(second.remainingItemCount, 1);
    assert.equal(second.resourceVersion, first.resourceVersion);
    const third = await list(t, { limit: 3, continue: second.continue });
    assert.deepEqual(names(third.items), ['cm6']);
    assert.equal(third.continue, undefined);
    assert.deepEqual(names((await list(t)).items), ['cm0', 'cm1', 'cm2', 'cm3', 'cm3b', 'cm5', 'cm6']);
  });

  test('a selective list says that there is more, not how much', async () => {
    await using t = await withConfigMaps(6);
    const page = await list(t, { limit: 1, labelSelector: 'odd=1' });
    assert.deepEqual(names(page.items), ['cm1']);
    assert.ok(page.continue);
    assert.equal(page.remainingItemCount, undefined);
  });

  test('an expired continue token comes back with one that goes on from now', async () => {
    const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 1, start: '/cm1\u0000' })).toString(
      'base64url',
    );
    const { createMemoryStorage } = await import('../storage/memory-storage.ts');
    const storage = createMemoryStorage();
    {
      await using before = await openTestRegistry({ storage });
      for (const name of ['cm0', 'cm1', 'cm2']) await before.create('v1/configmaps', { metadata: { name } });
    }
    await using again = await openTestRegistry({ storage });
    const error = await list(again, { continue: token }).catch((reason: unknown) => reason);
    assert.ok(isStatusError(error, 'Expired'));
    assert.equal(error.code, 410);
    const rest = await list(again, { continue: error.status.metadata.continue });
    assert.deepEqual(names(rest.items), ['cm2']);
  });

  test('resourceVersion and resourceVersionMatch mean what upstream says', async () => {
    await using t = await withConfigMaps(2);
    const { resourceVersion } = await list(t);
    await t.create('v1/configmaps', { metadata: { name: 'later' } });
    assert.equal((await list(t, { resourceVersion, resourceVersionMatch: 'Exact' })).items.length, 2);
    assert.equal((await list(t, { resourceVersion, resourceVersionMatch: 'NotOlderThan' })).items.length, 3);
    assert.equal((await list(t, { resourceVersion })).items.length, 3);
    assert.equal((await list(t, { resourceVersion: '0' })).items.length, 3);
    assert.equal((await list(t, { resourceVersion, limit: 5 })).items.length, 2);
  });

  const REFUSED: readonly (readonly [string, ListOptions, number])[] = [
    ['a resourceVersion that is no number', { resourceVersion: 'abc' }, 400],
    ['a resourceVersion of more than 64 bits', { resourceVersion: '18446744073709551616' }, 400],
    ['a resourceVersion of a million digits', { resourceVersion: '9'.repeat(1_000_000) }, 400],
    ['a match without a resourceVersion', { resourceVersionMatch: 'Exact' }, 422],
    ['exactly 0', { resourceVersion: '0', resourceVersionMatch: 'Exact' }, 422],
    ['a match that is none', { resourceVersion: '1', resourceVersionMatch: 'Bogus' }, 422],
    ['a continue that is none', { continue: 'x' }, 500],
    ['a continue of the future', { continue: encodeContinueToken({ revision: 999_999_999, start: 'a' }) }, 504],
    ['a resourceVersion beside continue', { continue: TOKEN, resourceVersion: '1' }, 400],
    ['a resourceVersion that is none, to page from', { limit: 1, resourceVersion: 'x' }, 500],
    ['initial events', { sendInitialEvents: false }, 422],
    ['a label selector that cannot be read', { labelSelector: '!!a' }, 400],
    ['a field that cannot be selected on', { fieldSelector: 'data.a=1' }, 400],
  ];
  for (const [what, options, code] of REFUSED) {
    test(`refuses ${what}`, async () => {
      await using t = await openTestRegistry();
      assert.equal(await codeOf(list(t, options)), code);
    });
  }

  test('selects by metadata and by fields of the kind, in all namespaces too', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/namespaces', { metadata: { name: 'other' } });
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await t.create('v1/pods', { metadata: { name: 'a' }, spec: { ...spec, nodeName: 'n1' } });
    await t.create('v1/pods', { metadata: { name: 'a', namespace: 'other' }, spec });
    const pods = t.resource('v1/pods');
    const count = async (options: ListOptions): Promise<number> => (await t.registry.list(pods, options)).items.length;
    assert.equal(await count({}), 2);
    assert.equal(await count({ fieldSelector: 'metadata.name=a' }), 2);
    assert.equal(await count({ fieldSelector: 'metadata.namespace=other' }), 1);
    assert.equal(await count({ fieldSelector: 'spec.nodeName=n1' }), 1);
    assert.equal(await count({ fieldSelector: 'spec.nodeName!=n1' }), 1);
    assert.equal(await count({ fieldSelector: 'spec.nodeName=' }), 1);
    await assert.rejects(count({ fieldSelector: 'spec.hostname=x' }), /field label not supported: spec.hostname/);
  });

  test('a get of the near future waits for it', async () => {
    await using t = await withConfigMaps(1);
    const next = String(Number(t.registry.resourceVersion) + 1);
    const waiting = t.registry.get(
      t.resource('v1/configmaps'),
      { ...NAMESPACE, name: 'cm0' },
      { resourceVersion: next },
    );
    await t.create('v1/configmaps', { metadata: { name: 'more' } });
    assert.equal((await waiting).parse().metadata?.name, 'cm0');
  });
});
