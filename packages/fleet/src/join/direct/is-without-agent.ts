import type { Cluster } from '../../api/index.ts';

/** Whether the hub does for a cluster what else its agent would: it dials it, and no agent ever joined. */
export function isWithoutAgent({ spec }: Cluster): boolean {
  return spec.syncMode === 'Push' && spec.connection.type === 'Direct' && spec.publicKeyHash === undefined;
}
