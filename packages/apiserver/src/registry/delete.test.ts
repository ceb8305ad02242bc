import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  describeItem,
  NAMESPACE,
  openTestRegistry,
  patch,
  refused,
  remove,
  WEB,
} from '../compose/testing/test-registry.ts';

describe('delete', () => {
  test('answers with a Status, or with the object where the kind does', async () => {
    await using t = await openTestRegistry();
    const { metadata } = await t.create('v1/configmaps', { metadata: { name: 'a' } });
    const gone = await remove(t, 'v1/configmaps', 'a');
    assert.equal(gone.finalized, true);
    assert.deepEqual(gone.status?.details, { name: 'a', kind: 'configmaps', uid: metadata?.uid });
    await t.create('v1/serviceaccounts', { metadata: { name: 'sa' } });
    assert.equal((await remove(t, 'v1/serviceaccounts', 'sa')).stored?.parse().metadata?.name, 'sa');
    await refused(remove(t, 'v1/configmaps', 'a'), 404, 'configmaps "a" not found');
  });

  test('waits for finalizers, which can go but not come', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a', finalizers: ['example.com/x', 'example.com/y'] } });
    const stream = await t.registry.watch(t.resource('v1/configmaps'), {
      ...NAMESPACE,
      resourceVersion: t.registry.resourceVersion,
    });
    const held = await remove(t, 'v1/configmaps', 'a');
    assert.equal(held.finalized, false);
    assert.ok(held.stored?.parse().metadata?.deletionTimestamp);
    await refused(
      patch(t, 'v1/configmaps', 'a', { metadata: { finalizers: ['example.com/x', 'example.com/z'] } }),
      422,
      /no new finalizers can be added/,
    );
    await patch(t, 'v1/configmaps', 'a', { metadata: { finalizers: ['example.com/y'], deletionTimestamp: null } });
    assert.ok((await t.get('v1/configmaps', 'a')).metadata?.deletionTimestamp);
    await patch(t, 'v1/configmaps', 'a', { metadata: { finalizers: null } });
    await refused(t.get('v1/configmaps', 'a'), 404);
    assert.deepEqual(stream.take().map(describeItem), ['MODIFIED a', 'MODIFIED a', 'DELETED a']);
  });

  test('the finalizer of the garbage collector comes last, unless it was there already', async () => {
    await using t = await openTestRegistry();
    const other = 'example.com/x';
    for (const [name, before, propagationPolicy, after] of [
      ['added', [other], 'Foreground', [other, 'foregroundDeletion']],
      ['there', ['foregroundDeletion', other], 'Foreground', ['foregroundDeletion', other]],
      ['exchanged', ['foregroundDeletion', other], 'Orphan', [other, 'orphan']],
      ['taken', ['orphan', other], 'Background', [other]],
    ] as const) {
      await t.create('v1/configmaps', { metadata: { name, finalizers: [...before] } });
      const { stored } = await remove(t, 'v1/configmaps', name, { propagationPolicy });
      assert.deepEqual(stored?.parse().metadata?.finalizers, after, name);
    }
  });

  test('keeps to preconditions, and to propagation policies that there are', async () => {
    await using t = await openTestRegistry();
    const { metadata } = await t.create('v1/configmaps', { metadata: { name: 'a' } });
    await t.create('apps/v1/deployments', WEB);
    await t.create('v1/namespaces', { metadata: { name: 'n' } });
    const named = 'Operation cannot be fulfilled on';
    const rows: [place: string, name: string, message: RegExp][] = [
      ['v1/configmaps', 'a', new RegExp(`^${named} ConfigMap "a": the UID in the precondition \\(x\\) does not match`)],
      ['apps/v1/deployments', 'web', new RegExp(`^${named} Deployment.apps "web": the UID in the precondition`)],
      [
        'v1/namespaces',
        'n',
        new RegExp(`^${named} namespaces "n": Precondition failed: UID in precondition: x, UID in`),
      ],
    ];
    for (const [place, name, message] of rows) {
      await refused(remove(t, place, name, { preconditions: { uid: 'x' } }), 409, message);
    }
    await refused(remove(t, 'v1/configmaps', 'a', { preconditions: { resourceVersion: '1' } }), 409);
    await refused(
      remove(t, 'v1/configmaps', 'a', { propagationPolicy: 'Nope' }),
      422,
      /propagationPolicy: Unsupported value: "Nope"/,
    );
    const preconditions = { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion };
    assert.equal((await remove(t, 'v1/configmaps', 'a', { preconditions })).finalized, true);
  });

  test('a pod on a node is given its grace, which can be shortened; one without goes at once', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    await using t = await openTestRegistry({ clock: () => now });
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await t.create('v1/pods', { metadata: { name: 'floating' }, spec });
    assert.equal((await remove(t, 'v1/pods', 'floating')).finalized, true);
    await t.create('v1/pods', { metadata: { name: 'p' }, spec: { ...spec, nodeName: 'n1' } });
    const marked = await remove(t, 'v1/pods', 'p');
    assert.equal(marked.finalized, false);
    assert.equal(marked.stored?.parse().metadata?.deletionTimestamp, '2026-01-01T00:00:30Z');
    now += 1000;
    const shorter = await remove(t, 'v1/pods', 'p', { gracePeriodSeconds: 2 });
    assert.equal(shorter.stored?.parse().metadata?.deletionTimestamp, '2026-01-01T00:00:02Z');
    assert.equal((await remove(t, 'v1/pods', 'p', { gracePeriodSeconds: 0 })).finalized, true);
    await refused(t.get('v1/pods', 'p'), 404);
  });

  test('a collection goes by selection, and the list of it is the answer', async () => {
    await using t = await openTestRegistry();
    for (const [name, odd] of [
      ['a', '0'],
      ['b', '1'],
      ['c', '1'],
    ]) {
      await t.create('v1/configmaps', { metadata: { name, labels: { odd } } as never });
    }
    const configMaps = t.resource('v1/configmaps');
    const { items } = await t.registry.deleteCollection(
      configMaps,
      { ...NAMESPACE, labelSelector: 'odd=1' },
      {},
      t.context(),
    );
    assert.equal(items.length, 2);
    assert.equal((await t.registry.list(configMaps, NAMESPACE)).items.length, 1);
  });

  test('some namespaces stay', async () => {
    await using t = await openTestRegistry();
    const namespaces = t.resource('v1/namespaces');
    await refused(
      t.registry.delete(namespaces, { name: 'default' }, {}, t.context()),
      403,
      /this namespace may not be deleted/,
    );
  });
});
