import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isNotFound, type KubeObject, type OwnerReference } from '@asterism/machinery';
import { openTestRegistry, TEST_USER, type TestRegistry } from './testing/test-registry.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import type { Storage } from '../storage/storage.ts';
import type { Controller } from '../controllers/controller-options.ts';
import { startControllers } from './start-controllers.ts';
import type { DeleteOptions } from '../contract/delete-options.ts';

const NAMESPACES = 'v1/namespaces';
const CONFIG_MAPS = 'v1/configmaps';
const NAMESPACE = { namespace: 'default' };

interface Running extends TestRegistry {
  controllers: Controller;
  errors: unknown[];
}

/** A registry with its controllers. */
async function start(options: { storage?: Storage; rootCa?: string } = {}): Promise<Running> {
  const t = await openTestRegistry(options.storage ? { storage: options.storage } : {});
  const stop = new AbortController();
  const errors: unknown[] = [];
  const controllers = startControllers({
    registry: t.registry,
    user: TEST_USER,
    signal: stop.signal,
    rootCa: options.rootCa,
    onError: (_what, error) => errors.push(error),
  });
  const close = async (): Promise<void> => {
    stop.abort();
    await controllers.settled();
    await t.registry.close();
    assert.deepEqual(errors, []);
  };
  return { ...t, controllers, errors, [Symbol.asyncDispose]: close };
}

async function exists(t: TestRegistry, place: string, name: string, namespace?: string): Promise<boolean> {
  return t.get(place, name, namespace).then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );
}

function remove(t: TestRegistry, place: string, name: string, options: DeleteOptions = {}) {
  const namespace = t.resource(place).type.namespaced ? 'default' : undefined;
  return t.registry.delete(t.resource(place), { namespace, name }, options, t.context());
}

function merge(t: TestRegistry, name: string, body: object, namespace = 'default') {
  return t.registry.patch(t.resource(CONFIG_MAPS), { namespace, name }, { type: 'merge', body }, t.context());
}

function ownedBy(
  { apiVersion = '', kind = '', metadata }: KubeObject,
  more: Partial<OwnerReference> = {},
): OwnerReference {
  return { apiVersion, kind, name: metadata?.name ?? '', uid: metadata?.uid ?? '', ...more };
}

function dependent(name: string, ...ownerReferences: OwnerReference[]): KubeObject {
  return { metadata: { name, ownerReferences } };
}

describe('namespaces', () => {
  test('have a default service account and the root certificate, and get them back', async () => {
    await using t = await start({ rootCa: 'PEM' });
    await t.create(NAMESPACES, { metadata: { name: 'demo' } });
    await t.controllers.settled();
    assert.ok(await exists(t, 'v1/serviceaccounts', 'default', 'demo'));
    assert.deepEqual((await t.get(CONFIG_MAPS, 'kube-root-ca.crt', 'demo')).data, { 'ca.crt': 'PEM' });
    await t.registry.delete(t.resource('v1/serviceaccounts'), { namespace: 'demo', name: 'default' }, {}, t.context());
    await merge(t, 'kube-root-ca.crt', { data: { 'ca.crt': 'forged' } }, 'demo');
    await t.controllers.settled();
    assert.ok(await exists(t, 'v1/serviceaccounts', 'default', 'demo'));
    assert.deepEqual((await t.get(CONFIG_MAPS, 'kube-root-ca.crt', 'demo')).data, { 'ca.crt': 'PEM' });
  });

  test('that are deleted go with all that is in them, built-in and custom', async () => {
    await using t = await start({ rootCa: 'PEM' });
    await t.create(NAMESPACES, { metadata: { name: 'demo' } });
    const definition = {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    };
    const served = Promise.withResolvers<void>();
    t.registry.onChange(() => served.resolve());
    await t.create('apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.example.com' },
      spec: definition,
    });
    await served.promise;
    await t.create('example.com/v1/widgets', { metadata: { name: 'w', namespace: 'demo' } });
    for (let i = 0; i < 5; i++) await t.create(CONFIG_MAPS, { metadata: { name: `cm${i}`, namespace: 'demo' } });
    await t.controllers.settled();
    const marked = await remove(t, NAMESPACES, 'demo');
    assert.deepEqual(marked.stored?.parse().status, { phase: 'Terminating' });
    await assert.rejects(
      t.create(CONFIG_MAPS, { metadata: { name: 'late', namespace: 'demo' } }),
      /because it is being terminated/,
    );
    await t.controllers.settled();
    assert.equal(await exists(t, NAMESPACES, 'demo'), false);
    for (const resource of t.registry.served()) {
      if (!resource.type.namespaced || !resource.verbs.includes('list')) continue;
      const { items } = await t.registry.list(resource, { namespace: 'demo' });
      assert.equal(items.length, 0, resource.type.resource);
    }
  });

  test('wait for finalizers of what is in them', async () => {
    await using t = await start();
    await t.create(NAMESPACES, { metadata: { name: 'demo' } });
    await t.create(CONFIG_MAPS, { metadata: { name: 'held', namespace: 'demo', finalizers: ['example.com/x'] } });
    await remove(t, NAMESPACES, 'demo');
    await t.controllers.settled();
    assert.ok((await t.get(CONFIG_MAPS, 'held', 'demo')).metadata?.deletionTimestamp);
    assert.ok(await exists(t, NAMESPACES, 'demo'));
    await merge(t, 'held', { metadata: { finalizers: null } }, 'demo');
    await t.controllers.settled();
    assert.equal(await exists(t, NAMESPACES, 'demo'), false);
  });

  test('that were being deleted when the server stopped are gone after it started again', async () => {
    const storage = createMemoryStorage();
    {
      await using t = await openTestRegistry({ storage });
      await t.create(NAMESPACES, { metadata: { name: 'demo' } });
      await t.create(CONFIG_MAPS, { metadata: { name: 'a', namespace: 'demo' } });
      await remove(t, NAMESPACES, 'demo');
    }
    await using t = await start({ storage });
    await t.controllers.settled();
    assert.equal(await exists(t, NAMESPACES, 'demo'), false);
  });
});

describe('garbage collection', () => {
  test('deletes what has lost its last owner, down to the last generation', async () => {
    await using t = await start();
    const owner = await t.create(CONFIG_MAPS, { metadata: { name: 'owner' } });
    const other = await t.create(CONFIG_MAPS, { metadata: { name: 'other' } });
    const child = await t.create(CONFIG_MAPS, dependent('child', ownedBy(owner)));
    await t.create(CONFIG_MAPS, dependent('grandchild', ownedBy(child)));
    await t.create(CONFIG_MAPS, dependent('shared', ownedBy(owner), ownedBy(other)));
    await t.controllers.settled();
    await remove(t, CONFIG_MAPS, 'owner');
    await t.controllers.settled();
    assert.equal(await exists(t, CONFIG_MAPS, 'child'), false);
    assert.equal(await exists(t, CONFIG_MAPS, 'grandchild'), false);
    const shared = await t.get(CONFIG_MAPS, 'shared');
    assert.deepEqual(
      shared.metadata?.ownerReferences?.map(({ name }) => name),
      ['other'],
    );
  });

  test('an owner of the same name and another uid is none; one of an unknown kind keeps', async () => {
    await using t = await start();
    const owner = await t.create(CONFIG_MAPS, { metadata: { name: 'owner' } });
    await t.create(CONFIG_MAPS, dependent('impostor', ownedBy(owner, { uid: 'another' })));
    await t.create(
      CONFIG_MAPS,
      dependent('stranger', ownedBy(owner, { apiVersion: 'unknown.example.com/v1', kind: 'Thing' })),
    );
    await t.controllers.settled();
    assert.equal(await exists(t, CONFIG_MAPS, 'impostor'), false);
    assert.ok(await exists(t, CONFIG_MAPS, 'stranger'));
  });

  test('objects of a namespace may be owned by what has none, and then go with it', async () => {
    await using t = await start();
    const role = await t.create('rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'r' } });
    await t.create(CONFIG_MAPS, dependent('a', ownedBy(role)));
    await t.controllers.settled();
    assert.ok(await exists(t, CONFIG_MAPS, 'a'));
    await remove(t, 'rbac.authorization.k8s.io/v1/clusterroles', 'r');
    await t.controllers.settled();
    assert.equal(await exists(t, CONFIG_MAPS, 'a'), false);
  });

  test('orphan lets the dependents go', async () => {
    await using t = await start();
    const owner = await t.create(CONFIG_MAPS, { metadata: { name: 'owner' } });
    await t.create(CONFIG_MAPS, dependent('child', ownedBy(owner)));
    await t.controllers.settled();
    const deleted = await remove(t, CONFIG_MAPS, 'owner', { propagationPolicy: 'Orphan' });
    assert.deepEqual(deleted.stored?.parse().metadata?.finalizers, ['orphan']);
    await t.controllers.settled();
    assert.equal(await exists(t, CONFIG_MAPS, 'owner'), false);
    assert.equal((await t.get(CONFIG_MAPS, 'child')).metadata?.ownerReferences, undefined);
  });

  test('foreground keeps the owner until the dependents that block it are gone', async () => {
    await using t = await start();
    const owner = await t.create(CONFIG_MAPS, { metadata: { name: 'owner' } });
    const blocking = dependent('blocking', ownedBy(owner, { blockOwnerDeletion: true }));
    await t.create(CONFIG_MAPS, { ...blocking, metadata: { ...blocking.metadata, finalizers: ['example.com/x'] } });
    await t.create(CONFIG_MAPS, dependent('free', ownedBy(owner)));
    await t.controllers.settled();
    await remove(t, CONFIG_MAPS, 'owner', { propagationPolicy: 'Foreground' });
    await t.controllers.settled();
    assert.deepEqual((await t.get(CONFIG_MAPS, 'owner')).metadata?.finalizers, ['foregroundDeletion']);
    assert.equal(await exists(t, CONFIG_MAPS, 'free'), false);
    assert.ok((await t.get(CONFIG_MAPS, 'blocking')).metadata?.deletionTimestamp);
    await merge(t, 'blocking', { metadata: { finalizers: null } });
    await t.controllers.settled();
    assert.equal(await exists(t, CONFIG_MAPS, 'owner'), false);
  });

  test('goes on after a restart, for what was left behind meanwhile too', async () => {
    const storage = createMemoryStorage();
    {
      await using t = await openTestRegistry({ storage });
      const owner = await t.create(CONFIG_MAPS, { metadata: { name: 'owner' } });
      await t.create(CONFIG_MAPS, dependent('child', ownedBy(owner)));
      await remove(t, CONFIG_MAPS, 'owner');
      const orphaning = await t.create(CONFIG_MAPS, { metadata: { name: 'orphaning' } });
      await t.create(CONFIG_MAPS, dependent('orphan', ownedBy(orphaning)));
      await remove(t, CONFIG_MAPS, 'orphaning', { propagationPolicy: 'Orphan' });
    }
    await using t = await start({ storage });
    await t.controllers.settled();
    assert.equal(await exists(t, CONFIG_MAPS, 'child'), false);
    assert.equal(await exists(t, CONFIG_MAPS, 'orphaning'), false);
    assert.ok(await exists(t, CONFIG_MAPS, 'orphan'));
  });

  test('of a workload everything goes, in the background', async () => {
    await using t = await start();
    const template = { metadata: { labels: { app: 'w' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const selector = { matchLabels: { app: 'w' } };
    const deployment = await t.create('apps/v1/deployments', { metadata: { name: 'w' }, spec: { selector, template } });
    const controller = { controller: true, blockOwnerDeletion: true };
    const set = await t.create('apps/v1/replicasets', {
      metadata: { name: 'w-1', ownerReferences: [ownedBy(deployment, controller)] },
      spec: { selector, template },
    });
    for (let i = 0; i < 9; i++) {
      await t.create('v1/pods', {
        metadata: { name: `w-1-${i}`, ownerReferences: [ownedBy(set, controller)] },
        spec: template.spec,
      });
    }
    await remove(t, 'apps/v1/deployments', 'w');
    await t.controllers.settled();
    assert.equal((await t.registry.list(t.resource('v1/pods'), NAMESPACE)).items.length, 0);
    assert.equal(await exists(t, 'apps/v1/replicasets', 'w-1'), false);
  });
});
