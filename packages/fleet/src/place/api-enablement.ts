import type { Cluster } from '../api/index.ts';

/** Whether the cluster's own account of what it serves has that kind. A cluster that gave no account yet serves nothing. */
export function servesKind(cluster: Cluster, { apiVersion, kind }: { apiVersion: string; kind: string }): boolean {
  const served = cluster.status?.apis?.find(({ groupVersion }) => groupVersion === apiVersion);
  return served?.resources.some((resource) => resource.kind === kind) ?? false;
}
