import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, LEASES, ROLE_BINDINGS, ROLES, SECRETS } from '@asterism/machinery';
import { type Controller, createController, type Predicate } from '@asterism/runtime';
import { type Cluster, CLUSTER_LABEL, CLUSTERS, CREDENTIAL_SECRET, HEARTBEAT_LEASE } from '../../api/index.ts';
import { revokeAccess } from './revoke-access.ts';
import { ensureClusterAccess } from './ensure-cluster-access.ts';

/** Agents write the status of their Cluster often; what they may do follows from its spec alone. */
const specChanged: Predicate<Cluster> = {
  update: (before, after) => before.metadata.generation !== after.metadata.generation,
};

/** What agents fill is theirs while it is there: only that it is gone matters. */
const deleted: Predicate = { create: () => false, update: () => false };

/**
 * Keeps each cluster's namespace and its agent's rights as they should be, also where somebody changed them by hand, and takes
 * them away with the Cluster.
 */
export function createAccessController(): Controller {
  const ours = { labelSelector: CLUSTER_LABEL };
  const ofCluster = (object: { metadata?: { labels?: Record<string, string> } }) => {
    const name = object.metadata?.labels?.[CLUSTER_LABEL];
    return name === undefined ? [] : [{ cluster: '', name }];
  };
  return createController({
    name: 'cluster-access',
    concurrency: 4,
    async reconcile(request, { cluster: hub, signal }) {
      const cluster = hub.cache.get(CLUSTERS, request);
      if (!cluster) return await revokeAccess(hub, request.name, signal);
      if (cluster.metadata.deletionTimestamp !== undefined) return;
      await ensureClusterAccess(hub.client, cluster, signal);
    },
  })
    .for(CLUSTERS, { predicates: [specChanged] })
    .watches(ROLES, ofCluster, ours)
    .watches(ROLE_BINDINGS, ofCluster, ours)
    .watches(CLUSTER_ROLES, ofCluster, ours)
    .watches(CLUSTER_ROLE_BINDINGS, ofCluster, ours)
    .watches(LEASES, ofCluster, { fieldSelector: `metadata.name=${HEARTBEAT_LEASE}`, predicates: [deleted] })
    .watches(SECRETS, ofCluster, { fieldSelector: `metadata.name=${CREDENTIAL_SECRET}`, predicates: [deleted] });
}
