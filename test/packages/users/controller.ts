import { startTestServer } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, SECRETS } from '@asterism/machinery';
import { createController, createManager, silentLogger } from '@asterism/runtime';

await using server = await startTestServer();
const manager = createManager({ client: server.client, logger: silentLogger });
const stop = new AbortController();
manager.add(
  createController({
    name: 'copy',
    async reconcile({ namespace, name }, { cluster, signal }) {
      const original = cluster.cache.get(CONFIG_MAPS, { namespace, name });
      if (original?.data?.copy !== 'yes') return;
      const copy = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, stringData: original.data };
      const { metadata } = await cluster.client.resource(SECRETS).apply(copy, { fieldManager: 'copy', signal });
      process.stdout.write(`copied ${metadata?.name}\n`);
      stop.abort();
    },
  }).for(CONFIG_MAPS),
);
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'settings' } };
await server.client.resource(CONFIG_MAPS).create({ ...settings, data: { copy: 'yes' } });
await manager.start(stop.signal);
