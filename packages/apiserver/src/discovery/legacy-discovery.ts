import { createHash } from 'node:crypto';
import { formatApiVersion } from '@asterism/machinery';
import type { CatalogGroup, CatalogResource } from './group-catalog.ts';

/** The answer on `/api` for clients that do not ask for aggregated discovery. */
export function apiVersions(versions: readonly string[], serverAddress: string) {
  return {
    kind: 'APIVersions',
    versions,
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** The answer on `/apis`: every group but the core one. */
export function apiGroupList(groups: readonly CatalogGroup[]) {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.filter(({ name }) => name !== '').map(describeGroup),
  };
}

/** The answer on `/apis/GROUP`. */
export function apiGroup(group: CatalogGroup) {
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) };
}

function describeGroup({ name, versions }: CatalogGroup) {
  const described = versions.map(({ version }) => ({
    groupVersion: formatApiVersion({ group: name, version }),
    version,
  }));
  return { name, versions: described, preferredVersion: described[0] };
}

/** The answer on `/api/v1` and `/apis/GROUP/VERSION`, or undefined where that version is not served. */
export function apiResourceList(group: CatalogGroup, version: string) {
  const found = group.versions.find((candidate) => candidate.version === version);
  if (found === undefined) return undefined;
  const at = { group: group.name, version };
  return {
    kind: 'APIResourceList',
    ...(group.name === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: formatApiVersion(at),
    resources: found.resources.flatMap((resource) => describeResource(group, at, resource)),
  };
}

function describeResource(group: CatalogGroup, at: { group: string; version: string }, resource: CatalogResource) {
  const { resource: name, namespaced, verbs, shortNames, categories } = resource;
  const own = {
    name,
    singularName: resource.singular,
    namespaced,
    kind: resource.kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(verbs.includes('create') && verbs.includes('list')
      ? { storageVersionHash: storageVersionHash(group, resource) }
      : {}),
  };
  const below = resource.subresources.map((subresource) => ({
    name: `${name}/${subresource.name}`,
    singularName: '',
    namespaced,
    ...(subresource.group === at.group && subresource.version === at.version
      ? {}
      : { group: subresource.group, version: subresource.version }),
    kind: subresource.kind,
    verbs: subresource.verbs,
  }));
  return [own, ...below];
}

/** Kinds that upstream stores in another group or version than the preferred one. */
const STORED_AS: Readonly<Record<string, string>> = {
  'events.k8s.io/Event': '/v1',
  'apiextensions.k8s.io/CustomResourceDefinition': 'apiextensions.k8s.io/v1beta1',
  // Younger than the release before: what that one could not read is not stored yet.
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': 'admissionregistration.k8s.io/v1beta1',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': 'admissionregistration.k8s.io/v1beta1',
};

/** Equal for all versions that are stored as one: eight bytes of a hash over what upstream stores the kind as. */
function storageVersionHash(group: CatalogGroup, { resource, kind, storageVersion }: CatalogResource): string {
  const preferred = group.versions.find(({ resources }) => resources.some((other) => other.resource === resource));
  const stored = STORED_AS[`${group.name}/${kind}`] ?? `${group.name}/${storageVersion ?? preferred?.version}`;
  const hash = createHash('sha256').update(`${stored}/${kind}`).digest();
  return hash.subarray(0, 8).toString('base64');
}
