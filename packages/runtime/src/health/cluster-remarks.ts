import type { Cluster } from '../cluster/cluster.ts';

/** More would bury the checks. */
const MOST = 20;

/** A line for each cluster that is not well, by name, with the informer that it is not well by and what that hangs on. */
export function clusterRemarks(clusters: readonly Cluster[]): string[] {
  const unwell = clusters
    .filter((cluster) => cluster.health() !== 'Connected')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((cluster) => `cluster/${cluster.name} ${cluster.health()}: ${failing(cluster)}`);
  const more = unwell.length - MOST;
  return more > 0 ? [...unwell.slice(0, MOST), `${more} more clusters are not well`] : unwell;
}

function failing({ cache }: Cluster): string {
  const { resource, status } = cache.status().find(({ status: { failures } }) => failures > 0) ?? {};
  const code = typeof status?.code === 'number' ? `HTTP ${status.code}` : status?.code;
  return `${resource}: ${code}`;
}
