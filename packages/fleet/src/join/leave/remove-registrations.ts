import type { Client } from '@asterism/client';
import { isNotFound } from '@asterism/machinery';
import { type Cluster, CLUSTER_REGISTRATIONS } from '../../api/index.ts';

/**
 * Deletes the requests by which a cluster joined: not those of another cluster of its name. Their certificate requests, which hold
 * nothing secret, are left to the API server: it keeps them for an hour.
 */
export async function removeRegistrations(hub: Client, cluster: Cluster, signal?: AbortSignal): Promise<void> {
  const { items } = await hub.resource(CLUSTER_REGISTRATIONS).list({ signal });
  const own = items.filter(
    ({ spec }) => spec.clusterId === cluster.spec.id && spec.clusterName === cluster.metadata.name,
  );
  for (const { metadata } of own) {
    const { name = '', uid } = metadata;
    try {
      await hub.resource(CLUSTER_REGISTRATIONS).delete({ name }, { preconditions: { uid }, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
