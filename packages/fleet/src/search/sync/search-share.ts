import type { Share } from '@asterism/store';
import type { Cluster, HubConfiguration } from '../../api/index.ts';

/** What search keeps of a cluster when nobody says otherwise. */
export const DEFAULT_SEARCH_SHARE: Share = { rows: 1_000_000, bytes: 2 * 1024 ** 3 };

/** How large the database of search may become when nobody says otherwise. */
export const DEFAULT_SEARCH_BYTES = 64 * 1024 ** 3;

/** The share of a cluster: its own, else that of the hub's configuration, else the default; each of the two figures for itself. */
export function searchShare(cluster: Cluster | undefined, configuration: HubConfiguration | undefined): Share {
  const own = cluster?.spec.searchShare;
  const common = configuration?.spec.search?.shareOfCluster;
  return {
    rows: own?.maxObjects ?? common?.maxObjects ?? DEFAULT_SEARCH_SHARE.rows,
    bytes: own?.maxBytes ?? common?.maxBytes ?? DEFAULT_SEARCH_SHARE.bytes,
  };
}
