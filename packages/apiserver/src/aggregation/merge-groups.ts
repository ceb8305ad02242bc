import { compareKubeVersions } from '@asterism/machinery';
import type { CatalogGroup, CatalogVersion, RemoteVersion } from '../discovery/group-catalog.ts';

/** Of custom resources, as upstream registers them. */
const CUSTOM = { groupPriority: 1000, versionPriority: 100 };

/** What upstream registers its own groups with; the core group stands apart. */
const GROUP_PRIORITIES: Readonly<Record<string, number>> = {
  '': 18_000,
  'apiregistration.k8s.io': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'internal.apiserver.k8s.io': 16_000,
  'storagemigration.k8s.io': 15_900,
};

/** Above any that an APIService may have. */
const FIRST = 10_000;

interface PlacedVersion extends CatalogVersion {
  priority: number;
}

/**
 * Groups in the order of their priorities, then of their names, and versions within them likewise, then the more stable and newer
 * first. The server's own groups keep theirs; a custom version that another server serves too is that one's.
 */
export function mergeGroups(own: readonly CatalogGroup[], remote: readonly RemoteVersion[]): CatalogGroup[] {
  const byGroup = Map.groupBy(remote, ({ group }) => group);
  const merged = own
    .map(({ name, versions }) => ({ name, versions: mergeVersions(versions, byGroup.get(name) ?? []) }))
    .filter(({ versions }) => versions.length > 0);
  const others = [...byGroup]
    .filter(([name]) => !own.some((group) => group.name === name))
    .map(([name, versions]) => ({ name, versions: mergeVersions([], versions) }));
  const priorityOf = ({ name }: CatalogGroup): number => {
    const told = (byGroup.get(name) ?? []).map(({ groupPriority }) => groupPriority);
    const isOwn = own.some((group) => group.name === name);
    return Math.max(GROUP_PRIORITIES[name] ?? (isOwn ? CUSTOM.groupPriority : 0), ...told);
  };
  return [...merged, ...others].sort((a, b) => {
    const difference = priorityOf(b) - priorityOf(a);
    if (difference !== 0 || a.name in GROUP_PRIORITIES || b.name in GROUP_PRIORITIES) return difference;
    return a.name < b.name ? -1 : 1;
  });
}

function mergeVersions(own: readonly CatalogVersion[], remote: readonly RemoteVersion[]): CatalogVersion[] {
  if (remote.length === 0) return [...own];
  const placed: PlacedVersion[] = own
    .filter(({ version }) => !remote.some((other) => other.version === version))
    .map((version, index) => ({ ...version, priority: isBuiltIn(version) ? FIRST - index : CUSTOM.versionPriority }));
  for (const { version, versionPriority, resources, freshness } of remote) {
    placed.push({ version, resources: [], remote: { resources, freshness }, priority: versionPriority });
  }
  placed.sort((a, b) => b.priority - a.priority || -compareKubeVersions(a.version, b.version));
  return placed.map(({ version, resources, remote }) => ({ version, resources, ...(remote && { remote }) }));
}

function isBuiltIn({ resources }: CatalogVersion): boolean {
  return resources.some(({ builtin }) => builtin);
}
