import type { ApiExtension, ExtensionResource } from '../http/extension/api-extension.ts';
import type { ServedResource } from '../contract/served-resource.ts';

/** A group as discovery names it; the preferred version stands first. The core group's name is ''. */
export interface CatalogGroup {
  name: string;
  versions: CatalogVersion[];
}

export interface CatalogVersion {
  version: string;
  resources: CatalogResource[];
  /** What another server says of it, instead of {@link resources}. */
  remote?: Pick<RemoteVersion, 'resources' | 'freshness'>;
}

/** A group-version that an APIService sends to another server. */
export interface RemoteVersion {
  group: string;
  version: string;
  groupPriority: number;
  versionPriority: number;
  /** As they stand in aggregated discovery. */
  resources: readonly object[];
  /** `Stale` while the other server is away. */
  freshness: 'Current' | 'Stale';
}

export interface CatalogResource {
  resource: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: readonly CatalogSubresource[];
  /** The version in which a custom resource is stored. */
  storageVersion?: string | undefined;
  /** Built into the server: discovery leaves out the group and version of its kind, as upstream does. */
  builtin: boolean;
}

export interface CatalogSubresource {
  name: string;
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
}

/** Everything that is served, by group and version: what the registry holds in its order, then extensions. */
export function groupCatalog(served: readonly ServedResource[], extensions: readonly ApiExtension[]): CatalogGroup[] {
  const groups = new Map<string, Map<string, CatalogResource[]>>();
  const resourcesOf = (group: string, version: string): CatalogResource[] => {
    const versions = groups.get(group) ?? new Map<string, CatalogResource[]>();
    groups.set(group, versions);
    const resources = versions.get(version) ?? [];
    versions.set(version, resources);
    return resources;
  };
  for (const resource of served) {
    resourcesOf(resource.type.group, resource.type.version).push(fromRegistry(resource));
  }
  for (const extension of extensions) {
    const resources = resourcesOf(extension.group, extension.version);
    resources.push(...extension.resources.map((resource) => fromExtension(extension, resource)));
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions].map(([version, resources]) => ({ version, resources })),
  }));
}

function fromRegistry({ type, ...resource }: ServedResource): CatalogResource {
  return {
    resource: type.resource,
    singular: resource.singular,
    kind: type.kind,
    namespaced: type.namespaced,
    verbs: resource.verbs,
    shortNames: resource.shortNames,
    categories: resource.categories,
    subresources: resource.subresources,
    storageVersion: resource.storageVersion,
    builtin: resource.storage === 'builtin',
  };
}

function fromExtension({ group, version }: ApiExtension, resource: ExtensionResource): CatalogResource {
  return {
    resource: resource.resource,
    singular: resource.singular,
    kind: resource.kind,
    namespaced: resource.namespaced,
    verbs: resource.verbs,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    subresources: (resource.subresources ?? []).map((subresource) => ({ group, version, ...subresource })),
    builtin: false,
  };
}
