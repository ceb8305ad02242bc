import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { createController } from '../controller/controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type ManagedServer, type Manager } from './manager.ts';
import { FakeApi } from '../testing/fake-api.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const pod: KubeObject = { metadata: { name: 'a', namespace: 'n' } };

function recordingServer(name: string, order: string[], onStart: (manager: Manager) => void = () => {}): ManagedServer {
  return {
    name,
    async start(manager) {
      await new Promise(setImmediate);
      onStart(manager);
      order.push(`${name} listens`);
    },
    async stop() {
      order.push(`${name} stopped`);
    },
  };
}

test('servers start one after the other before the caches, and stop the other way round after them', async () => {
  await using api = await FakeApi.start();
  const order: string[] = [];
  const atStart = (): void => void order.push(`${api.calls.length} calls`);
  const servers = [recordingServer('status', order), recordingServer('webhooks', order, atStart)];
  const manager = createManager({ client: api.client(), logger: silentLogger, servers });
  const { signal } = manager.local;
  signal.addEventListener('abort', () => order.push('caches end'));
  manager.add(createController({ name: 'pods', reconcile: async () => {} }).for(PODS));
  const abort = new AbortController();
  assert.deepEqual(manager.whyNotReady(), ['the manager has not started']);
  const stopped = manager.start(abort.signal);
  await manager.ready();
  abort.abort();
  await stopped;
  assert.deepEqual(order, [
    'status listens',
    '0 calls',
    'webhooks listens',
    'caches end',
    'webhooks stopped',
    'status stopped',
  ]);
});

test('what is added while servers start begins with the rest', async () => {
  await using api = await FakeApi.start();
  await using other = await FakeApi.start();
  other.put('/api/v1/pods', pod);
  api.put('/api/v1/pods', pod);
  const reconciled = Promise.withResolvers<string>();
  const server = recordingServer('status', [], (manager) => {
    const { cache } = manager.addCluster('other', other.client());
    const reconcile = async (): Promise<void> => {
      await informer.synced();
      reconciled.resolve(cache.list(PODS).map(({ metadata }) => metadata?.name)[0] ?? 'none');
    };
    const informer = cache.informer(PODS);
    manager.add(createController({ name: 'pods', reconcile }).for(PODS));
  });
  const manager = createManager({ client: api.client(), logger: silentLogger, servers: [server] });
  const abort = new AbortController();
  const stopped = manager.start(abort.signal);
  assert.equal(await reconciled.promise, 'a');
  abort.abort();
  await stopped;
});

test('a server that does not stop keeps nobody, and one that does not start has the others stopped', async () => {
  await using api = await FakeApi.start();
  const order: string[] = [];
  const stubborn = { ...recordingServer('stubborn', order), stop: () => Promise.reject(new Error('no')) };
  const failing = { ...recordingServer('failing', order), start: () => Promise.reject(new Error('taken')) };
  const servers = [recordingServer('status', order), stubborn, failing];
  const manager = createManager({ client: api.client(), logger: silentLogger, servers });
  await assert.rejects(manager.start(new AbortController().signal), /failing failed to start: taken/);
  await assert.rejects(manager.ready(), /taken/);
  await assert.rejects(manager.leading, /stopped/);
  assert.deepEqual(order, ['status listens', 'stubborn listens', 'status stopped']);
});
