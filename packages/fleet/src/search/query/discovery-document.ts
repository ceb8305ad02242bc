import { failure, formatApiVersion } from '@asterism/machinery';
import type { SearchableResource } from '../search-catalogue.ts';
import type { DiscoveryPath } from './parse-search-path.ts';

const VERBS = ['get', 'list'];

/**
 * The document of a discovery path: what is indexed of any cluster, as an API server describes what it serves, so that kubectl
 * and every other client find their way below `resources`.
 *
 * @throws StatusError 404 for a group or version of which nothing is indexed.
 */
export function discoveryDocument(
  { root, group, version }: DiscoveryPath,
  resources: readonly SearchableResource[],
): unknown {
  const groups = groupsOf(resources);
  if (group === undefined) return root === 'api' ? apiVersions(groups) : apiGroupList(groups);
  const versions = groups.get(group);
  if (!versions) throw nothingIndexed(group);
  if (version === undefined)
    return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group, [...versions.keys()]) };
  const found = versions.get(version);
  if (!found) throw nothingIndexed(formatApiVersion({ group, version }));
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: formatApiVersion({ group, version }),
    resources: found.map(({ resource, singular, namespaced, kind, shortNames, categories }) => ({
      name: resource,
      singularName: singular,
      namespaced,
      kind,
      verbs: VERBS,
      shortNames,
      categories,
    })),
  };
}

/** All of `/api` or `/apis` in one document, `apidiscovery.k8s.io/v2`. */
export function aggregatedDocument(root: 'api' | 'apis', resources: readonly SearchableResource[]): unknown {
  const groups = [...groupsOf(resources)].filter(([group]) => (group === '') === (root === 'api'));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(([name, versions]) => ({
      metadata: name === '' ? {} : { name },
      versions: [...versions].map(([version, found]) => ({
        version,
        resources: found.map(({ resource, singular, namespaced, group, kind, shortNames, categories }) => ({
          resource,
          responseKind: { group, version, kind },
          scope: namespaced ? 'Namespaced' : 'Cluster',
          singularResource: singular,
          verbs: VERBS,
          shortNames,
          categories,
        })),
        freshness: 'Current',
      })),
    })),
  };
}

/** Resources by group and version, the most stable and then the newest version first. */
function groupsOf(resources: readonly SearchableResource[]): Map<string, Map<string, SearchableResource[]>> {
  const byGroup = Map.groupBy(resources, ({ group }) => group);
  return new Map(
    [...byGroup].map(([group, found]) => [
      group,
      new Map([...Map.groupBy(found, ({ version }) => version)].sort(([a], [b]) => compareVersions(a, b))),
    ]),
  );
}

/** As Kubernetes orders versions: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, and then other words by their letters. */
function compareVersions(a: string, b: string): number {
  const rank = (version: string): number[] => {
    const [, major, stage = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    if (major === undefined) return [0, 0, 0];
    return [stage === '' ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor)];
  };
  const [left, right] = [rank(a), rank(b)];
  const differing = left.findIndex((value, index) => value !== right[index]);
  if (differing < 0) return a < b ? -1 : 1;
  return (right[differing] ?? 0) - (left[differing] ?? 0);
}

function apiVersions(groups: ReadonlyMap<string, ReadonlyMap<string, unknown>>) {
  return { kind: 'APIVersions', versions: [...(groups.get('')?.keys() ?? [])], serverAddressByClientCIDRs: [] };
}

function apiGroupList(groups: ReadonlyMap<string, ReadonlyMap<string, unknown>>) {
  const named = [...groups].filter(([name]) => name !== '');
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: named.map(([name, versions]) => describeGroup(name, [...versions.keys()])),
  };
}

function describeGroup(name: string, versions: readonly string[]) {
  const described = versions.map((version) => ({ groupVersion: formatApiVersion({ group: name, version }), version }));
  return { name, versions: described, preferredVersion: described[0] };
}

function nothingIndexed(what: string) {
  return failure(
    404,
    `the server could not find the requested resource: nothing of ${JSON.stringify(what)} is indexed`,
  );
}
