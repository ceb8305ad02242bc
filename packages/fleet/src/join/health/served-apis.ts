import type { DiscoveredResource } from '@asterism/client';
import { formatApiVersion } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';

type ServedApi = NonNullable<NonNullable<Cluster['status']>['apis']>[number];

/** What a member serves, by group and version, in an order that does not change from one look to the next. */
export function servedApis(resources: readonly DiscoveredResource[]): ServedApi[] {
  const byVersion = Map.groupBy(resources, formatApiVersion);
  return [...byVersion]
    .map(([groupVersion, served]) => ({
      groupVersion,
      resources: served
        .map(({ resource: name, kind, namespaced }) => ({ name, kind, namespaced }))
        .sort((a, b) => compare(a.name, b.name)),
    }))
    .sort((a, b) => compare(a.groupVersion, b.groupVersion));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
