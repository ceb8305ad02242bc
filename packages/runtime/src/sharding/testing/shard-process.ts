import { connectionFromKubeconfig, createClient, createTransport, loadKubeconfig, wallNow } from '@asterism/client';
import { CONFIG_MAPS, parseJson } from '@asterism/machinery';
import { createController } from '../../controller/controller.ts';
import { silentLogger } from '../../log/logger.ts';
import { createManager } from '../../lifecycle/manager.ts';

/**
 * A process that shares clusters with its like: `node shard-process.ts KUBECONFIG IDENTITY TIMING CLUSTER...`. All the clusters are
 * one server in truth. On each that it holds it writes the ConfigMap `of-CLUSTER`, again and again, with its identity. It stops
 * when it is told to (SIGTERM).
 */
const [kubeconfig = '', identity = '', timing = '{}', ...clusters] = process.argv.slice(2);
const connection = await connectionFromKubeconfig(await loadKubeconfig(kubeconfig));
await using transport = createTransport(connection);
const client = createClient({ transport });
const manager = createManager({
  client,
  logger: silentLogger,
  sharding: { namespace: 'default', name: 'shards', identity, ...(parseJson(timing) as object) },
  providers: [
    {
      async run(engage) {
        for (const cluster of clusters) engage(cluster, client);
      },
    },
  ],
});
manager.add(
  createController({
    name: 'writer',
    concurrency: clusters.length,
    concurrencyPerCluster: 1,
    async reconcile({ cluster }, { cluster: { client: own } }) {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: `of-${cluster}` } };
      await own
        .resource(CONFIG_MAPS)
        .apply({ ...object, data: { by: identity } }, { fieldManager: 'test', force: true });
      await own.resource(CONFIG_MAPS).patch(object.metadata, { type: 'merge', body: { data: { at: `${wallNow()}` } } });
      return { requeueAfter: 20 };
    },
  }).for(CONFIG_MAPS, { clusters: 'members', namespace: 'default', fieldSelector: 'metadata.name=beat' }),
);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await manager.start(stop.signal);
