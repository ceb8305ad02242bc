import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import { ObjectStore } from '../storage/object-store.ts';
import { createServiceResolver } from './resolve-service.ts';

test('where a Service is: an option, its ready endpoints, its cluster address, in this order', async () => {
  await using store = new ObjectStore({ storage: createMemoryStorage(), clock: Date.now });
  await store.open();
  const put = async (groupResource: string, name: string, object: KubeObject): Promise<void> => {
    await store.write({ type: 'put', groupResource, namespace: 'ns', name, expected: 0, object });
  };
  const at = { namespace: 'ns', name: 'hook', port: 443 };
  const resolve = createServiceResolver({ store, random: () => 0.99 });
  await assert.rejects(async () => await resolve(at), /service "hook" not found/);
  const ports = [{ name: 'web', port: 443 }];
  await put('services', 'hook', { metadata: { name: 'hook' }, spec: { clusterIP: '10.96.0.7', ports } });
  assert.deepEqual(await resolve(at), { host: '10.96.0.7', port: 443 });
  await assert.rejects(async () => await resolve({ ...at, port: 1 }), /no service port 1 found for service "hook"/);
  const slice = (name: string, ready: boolean, address: string) =>
    put('endpointslices.discovery.k8s.io', name, {
      metadata: { name, labels: { 'kubernetes.io/service-name': 'hook' } },
      ports: [{ name: 'web', port: 8443 }],
      endpoints: [{ addresses: [address], conditions: { ready } }],
    });
  await slice('a', false, '10.0.0.1');
  await assert.rejects(async () => await resolve(at), /no endpoints available for service "hook"/);
  await slice('b', true, '10.0.0.2');
  assert.deepEqual(await resolve(at), { host: '10.0.0.2', port: 8443 });
  const told = createServiceResolver({ store, resolve: () => ({ host: 'elsewhere', port: 1 }) });
  assert.deepEqual(await told(at), { host: 'elsewhere', port: 1 });
});
