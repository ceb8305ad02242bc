import { formatApiVersion, type GroupVersion, type GroupVersionKind, parseApiVersion } from '@asterism/machinery';
import type { DiscoveredResource, DiscoveredSubresource } from './discovery.ts';

/** What one document told. */
export interface DiscoveredGroups {
  resources: DiscoveredResource[];
  /** Group versions whose server did not answer; what they hold is missing or old. */
  stale: string[];
}

interface Scoped {
  resource: string;
  responseKind?: Partial<GroupVersionKind> | null;
  scope?: 'Namespaced' | 'Cluster';
  singularResource?: string;
  verbs?: string[] | null;
  shortNames?: string[];
  categories?: string[];
  subresources?: { subresource: string; responseKind?: Partial<GroupVersionKind> | null; verbs?: string[] | null }[];
}

/** `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`, of `/api` or `/apis` (KEP-3352). */
export interface AggregatedDiscovery {
  kind: 'APIGroupDiscoveryList';
  items?: {
    metadata?: { name?: string };
    versions?: { version: string; freshness?: 'Current' | 'Stale'; resources?: Scoped[] }[];
  }[];
}

export function isAggregated(document: unknown): document is AggregatedDiscovery {
  return (document as { kind?: unknown } | null)?.kind === 'APIGroupDiscoveryList';
}

export function parseAggregated({ items = [] }: AggregatedDiscovery): DiscoveredGroups {
  const found: DiscoveredGroups = { resources: [], stale: [] };
  for (const { metadata, versions = [] } of items) {
    const seen = new Set<string>();
    for (const { version, freshness, resources = [] } of versions) {
      const groupVersion = { group: metadata?.name ?? '', version };
      if (freshness === 'Stale') found.stale.push(formatApiVersion(groupVersion));
      for (const resource of resources) {
        found.resources.push(fromAggregated(resource, groupVersion, !seen.has(resource.resource)));
        seen.add(resource.resource);
      }
    }
  }
  return found;
}

function fromAggregated(source: Scoped, groupVersion: GroupVersion, preferred: boolean): DiscoveredResource {
  const kind = source.responseKind?.kind ?? '';
  return {
    ...groupVersion,
    resource: source.resource,
    kind,
    namespaced: source.scope === 'Namespaced',
    singular: source.singularResource || kind.toLowerCase(),
    verbs: source.verbs ?? [],
    shortNames: source.shortNames ?? [],
    categories: source.categories ?? [],
    subresources: (source.subresources ?? []).map(({ subresource, responseKind, verbs }) => ({
      name: subresource,
      responseKind: complete(responseKind, groupVersion),
      verbs: verbs ?? [],
    })),
    preferred,
  };
}

/** The server leaves the group and version of a kind empty where they are those of its resource. */
function complete(kind: Partial<GroupVersionKind> | null | undefined, { group, version }: GroupVersion) {
  if (!kind?.kind) return undefined;
  return kind.version
    ? { group: kind.group ?? '', version: kind.version, kind: kind.kind }
    : { group, version, kind: kind.kind };
}

/** `APIResourceList` of `/apis/GROUP/VERSION`: subresources stand in it as `deployments/scale`. */
export interface ResourceListDocument {
  groupVersion: string;
  resources?: {
    name: string;
    singularName?: string;
    namespaced?: boolean;
    group?: string;
    version?: string;
    kind: string;
    verbs?: string[] | null;
    shortNames?: string[];
    categories?: string[];
  }[];
}

/** `preferred` is true for all; {@link markPreferred} knows the versions beside this one. */
export function parseResourceList({ groupVersion, resources = [] }: ResourceListDocument): DiscoveredResource[] {
  const type = parseApiVersion(groupVersion);
  const found = new Map<string, DiscoveredResource & { subresources: DiscoveredSubresource[] }>();
  for (const source of resources) {
    if (source.name.includes('/')) continue;
    found.set(source.name, {
      ...type,
      resource: source.name,
      kind: source.kind,
      namespaced: source.namespaced === true,
      singular: source.singularName || source.kind.toLowerCase(),
      verbs: source.verbs ?? [],
      shortNames: source.shortNames ?? [],
      categories: source.categories ?? [],
      subresources: [],
      preferred: true,
    });
  }
  for (const { name, group, version, kind, verbs } of resources) {
    const slash = name.indexOf('/');
    const parent = slash < 0 ? undefined : found.get(name.slice(0, slash));
    parent?.subresources.push({
      name: name.slice(slash + 1),
      responseKind: complete({ group: group ?? '', version: version ?? '', kind }, type),
      verbs: verbs ?? [],
    });
  }
  return [...found.values()];
}

/** The first version that has a resource is the one preferred; the list must be in the server's order. */
export function markPreferred(resources: readonly DiscoveredResource[]): DiscoveredResource[] {
  const seen = new Set<string>();
  return resources.map((resource) => {
    const name = `${resource.resource}.${resource.group}`;
    const preferred = !seen.has(name);
    seen.add(name);
    return { ...resource, preferred };
  });
}
