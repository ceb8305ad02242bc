import type { DiscoveredResource } from '@asterism/client';
import { type CustomResourceDefinition, isConditionTrue } from '@asterism/machinery';

/** What tells which kinds a definition has its API server serve, and that it changed; the rest of it is large. */
export function outlineDefinition({ metadata, spec, status }: CustomResourceDefinition): CustomResourceDefinition {
  const { name = '', uid = '', generation = 0, resourceVersion = '' } = metadata ?? {};
  const versions = spec.versions.map(({ name: version, served, storage }) => ({ name: version, served, storage }));
  const conditions = status?.conditions?.filter(({ type }) => type === 'Established') ?? [];
  return { metadata: { name, uid, generation, resourceVersion }, spec: { ...spec, versions }, status: { conditions } };
}

/**
 * `widgets.example.com/v1` for each resource that a definition has established and discovery does not list yet: an API server
 * tells of a new group a moment after its definition says that it is established.
 */
export function missingKinds(
  definitions: readonly CustomResourceDefinition[],
  listed: readonly Pick<DiscoveredResource, 'group' | 'version' | 'resource'>[],
): string[] {
  const nameOf = (group: string, version: string, resource: string): string => `${resource}.${group}/${version}`;
  const known = new Set(listed.map(({ group, version, resource }) => nameOf(group, version, resource)));
  return definitions
    .filter(({ status }) => isConditionTrue(status?.conditions, 'Established'))
    .flatMap(({ spec: { group, names, versions } }) =>
      versions.filter(({ served }) => served).map(({ name }) => nameOf(group, name, names.plural)),
    )
    .filter((name) => !known.has(name));
}
