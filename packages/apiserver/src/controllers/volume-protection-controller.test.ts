import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isNotFound, type KubeObject } from '@asterism/machinery';
import { openTestRegistry, TEST_USER, type TestRegistry } from '../compose/testing/test-registry.ts';
import type { Controller } from './controller-options.ts';
import { startVolumeProtectionController } from './volume-protection-controller.ts';

const CLAIMS = 'v1/persistentvolumeclaims';
const VOLUMES = 'v1/persistentvolumes';
const CLASSES = 'storage.k8s.io/v1/volumeattributesclasses';
const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const VOLUME = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } };

interface Running extends TestRegistry {
  controller: Controller;
  make(place: string, object: KubeObject): Promise<unknown>;
  remove(place: string, name?: string): Promise<unknown>;
  status(place: string, status: object): Promise<unknown>;
  isGone(place: string): Promise<boolean>;
}

async function start(): Promise<Running> {
  const t = await openTestRegistry();
  const stop = new AbortController();
  const { registry } = t;
  const controller = startVolumeProtectionController({
    registry,
    user: TEST_USER,
    signal: stop.signal,
    clock: Date.now,
    onError: (what, error) => assert.fail(`${what}: ${String(error)}`),
  });
  const ref = (place: string, name = 'x') => ({
    name,
    ...(t.resource(place).type.namespaced ? { namespace: 'default' } : {}),
  });
  return {
    ...t,
    controller,
    make: (place, object) => t.create(place, { metadata: { name: 'x' }, ...object }),
    remove: (place, name) =>
      registry.delete(t.resource(place), ref(place, name), { gracePeriodSeconds: 0 }, t.context()),
    status: (place, status) =>
      registry.patch(
        t.resource(place),
        ref(place),
        { type: 'merge', body: { status } },
        t.context({ subresource: 'status' }),
      ),
    async isGone(place) {
      await controller.settled();
      return t.get(place, 'x').then(() => false, isNotFound);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await registry.close();
    },
  };
}

describe('what is protected goes when nobody uses it', () => {
  test('a claim with the end of the pod that names it', async () => {
    await using t = await start();
    await t.make(CLAIMS, { spec: CLAIM });
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }];
    await t.create('v1/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'a', image: 'b' }], volumes } });
    await t.remove(CLAIMS);
    assert.equal(await t.isGone(CLAIMS), false);
    await t.remove('v1/pods', 'p');
    assert.equal(await t.isGone(CLAIMS), true);
  });

  test('a volume when it is not bound any more', async () => {
    await using t = await start();
    await t.make(VOLUMES, { spec: VOLUME });
    await t.status(VOLUMES, { phase: 'Bound' });
    await t.remove(VOLUMES);
    assert.equal(await t.isGone(VOLUMES), false);
    await t.status(VOLUMES, { phase: 'Released' });
    assert.equal(await t.isGone(VOLUMES), true);
  });

  test('a class with the last claim that has it', async () => {
    await using t = await start();
    await t.make(CLASSES, { driverName: 'a.b', parameters: { a: 'b' } });
    await t.create(CLAIMS, { metadata: { name: 'c' }, spec: { ...CLAIM, volumeAttributesClassName: 'x' } });
    await t.remove(CLASSES);
    assert.equal(await t.isGone(CLASSES), false);
    await t.remove(CLAIMS, 'c');
    assert.equal(await t.isGone(CLASSES), true);
  });

  test('what nobody uses at once', async () => {
    await using t = await start();
    await t.make(CLAIMS, { spec: CLAIM });
    await t.remove(CLAIMS);
    assert.equal(await t.isGone(CLAIMS), true);
  });
});
