import type { CatalogGroup, CatalogResource, CatalogVersion } from './group-catalog.ts';

/** `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2` (KEP-3352): everything that clients ask at their start, in one answer. */
export function aggregatedDiscovery(groups: readonly CatalogGroup[]) {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) => discoverVersion(name, version)),
    })),
  };
}

function discoverVersion(group: string, { version, resources, remote }: CatalogVersion) {
  if (remote !== undefined) return { version, ...remote };
  return {
    version,
    resources: resources.map((resource) => discoverResource({ group, version }, resource)),
    freshness: 'Current',
  };
}

function discoverResource(at: { group: string; version: string }, resource: CatalogResource) {
  const responseKind = (kind: string, { group, version }: { group: string; version: string }) => {
    const own = group === at.group && version === at.version;
    return own && resource.builtin ? { group: '', version: '', kind } : { group, version, kind };
  };
  return {
    resource: resource.resource,
    responseKind: responseKind(resource.kind, at),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
    ...(resource.subresources.length > 0
      ? {
          subresources: resource.subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: responseKind(subresource.kind, subresource),
            verbs: subresource.verbs,
          })),
        }
      : {}),
  };
}
