import { LEASES } from '@asterism/machinery';
import { type Controller, createController } from '@asterism/runtime';
import { CLUSTERS, clusterNamespace, clusterOfNamespace, HEARTBEAT_LEASE } from '../../api/index.ts';
import { clusterHealth, type Heartbeat, takePulse } from './decide-health.ts';

/** As Kubernetes gives a node. */
export const HEARTBEAT_TIMEOUT_MS = 40_000;

/**
 * Watches the agents' Leases. A cluster that is silent becomes `Ready=Unknown` and gets the unreachable taint; one that is
 * heard again loses the taint, and its agent sets `Ready` itself.
 */
export function createHealthController(options: { timeoutMs?: number; now?: () => number } = {}): Controller {
  const { timeoutMs = HEARTBEAT_TIMEOUT_MS, now = Date.now } = options;
  const heartbeats = new Map<string, Heartbeat>();
  return createController({
    name: 'cluster-health',
    concurrency: 4,
    async reconcile({ name }, { cluster: { client, cache }, signal, logger }) {
      const cluster = cache.get(CLUSTERS, { name });
      if (!cluster) {
        heartbeats.delete(name);
        return;
      }
      const lease = cache.get(LEASES, { namespace: clusterNamespace(name), name: HEARTBEAT_LEASE });
      const { heartbeat, pulse } = takePulse(heartbeats.get(name), lease?.spec?.renewTime, timeoutMs, now());
      heartbeats.set(name, heartbeat);
      const change = clusterHealth(cluster, pulse, now());
      const clusters = client.resource(CLUSTERS);
      if (change.status) {
        await clusters.update(change.status, { subresource: 'status', signal });
        logger.warn({ member: name }, 'the agent is silent: Ready is Unknown');
        return; // The event of this write brings the cluster back here, for its taints.
      }
      if (change.spec) {
        const taints = change.spec.spec.taints?.map((taint) => taint.key) ?? [];
        logger.info({ member: name, taints }, 'the taints of a cluster change with its health');
        await clusters.update(change.spec, { signal });
      }
      return pulse.state === 'Silent' ? undefined : { requeueAfter: pulse.checkInMs };
    },
  })
    .for(CLUSTERS)
    .watches(
      LEASES,
      (lease) => {
        const name = clusterOfNamespace(lease.metadata?.namespace ?? '');
        return name === undefined ? [] : [{ cluster: '', name }];
      },
      { fieldSelector: `metadata.name=${HEARTBEAT_LEASE}` },
    );
}
