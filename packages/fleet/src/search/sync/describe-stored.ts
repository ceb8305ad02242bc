import { BUILTIN_RESOURCES, formatApiVersion } from '@asterism/machinery';
import type { Source } from '@asterism/store';
import type { Cluster } from '../../api/index.ts';
import type { SearchableResource } from '../search-catalogue.ts';

type ServedApi = NonNullable<NonNullable<Cluster['status']>['apis']>[number];

/**
 * What discovery would say of stored sources, for as long as their cluster cannot be asked: by what is built into Kubernetes, and
 * by what the cluster's status says that it served. What neither knows is left out.
 */
export function describeStored(sources: readonly Source[], apis: readonly ServedApi[]): SearchableResource[] {
  return sources.flatMap(({ group, version, resource }): SearchableResource[] => {
    const builtin = BUILTIN_RESOURCES.find(
      (type) => type.resource === resource && type.group === group && type.version === version,
    );
    if (builtin) return [builtin];
    const groupVersion = formatApiVersion({ group, version });
    const served = apis
      .find((api) => api.groupVersion === groupVersion)
      ?.resources.find(({ name }) => name === resource);
    if (!served) return [];
    const { kind, namespaced } = served;
    const singular = kind.toLowerCase();
    return [{ group, version, resource, kind, namespaced, singular, shortNames: [], categories: [] }];
  });
}
