import type { Client } from '@asterism/client';
import { CERTIFICATE_SIGNING_REQUESTS, isNotFound } from '@asterism/machinery';
import { type Cluster, CLUSTER_REGISTRATIONS } from '../../api/index.ts';

/** Deletes the requests by which a cluster joined, with their certificate requests: not those of another cluster of its name. */
export async function removeRegistrations(hub: Client, cluster: Cluster, signal?: AbortSignal): Promise<void> {
  const { items } = await hub.resource(CLUSTER_REGISTRATIONS).list({ signal });
  const own = items.filter(
    ({ spec }) => spec.clusterId === cluster.spec.id && spec.clusterName === cluster.metadata.name,
  );
  for (const { metadata, spec } of own) {
    await remove(hub.resource(CERTIFICATE_SIGNING_REQUESTS).delete({ name: spec.certificateRequest }, { signal }));
    const { name = '', uid } = metadata;
    await remove(hub.resource(CLUSTER_REGISTRATIONS).delete({ name }, { preconditions: { uid }, signal }));
  }
}

async function remove(deleting: Promise<unknown>): Promise<void> {
  await deleting.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
