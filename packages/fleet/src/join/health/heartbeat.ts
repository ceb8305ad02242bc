import type { Client } from '@asterism/client';
import { formatMicroTime, LEASES } from '@asterism/machinery';
import { clusterNamespace, HEARTBEAT_LEASE } from '../../api/index.ts';

/** Says that the cluster is alive: renews its Lease, which the hub made. `timeoutMs` is what the hub grants by default. */
export async function beat(
  hub: Client,
  clusterName: string,
  options: { now: number; holder: string; timeoutMs: number; signal?: AbortSignal },
): Promise<void> {
  const ref = { namespace: clusterNamespace(clusterName), name: HEARTBEAT_LEASE };
  const spec = {
    renewTime: formatMicroTime(options.now),
    holderIdentity: options.holder,
    leaseDurationSeconds: Math.round(options.timeoutMs / 1000),
  };
  await hub.resource(LEASES).patch(ref, { type: 'merge', body: { spec } }, { signal: options.signal });
}
