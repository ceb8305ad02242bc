import { parseApiVersion } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';

/** A kind in one version, and which clusters serve it. */
export interface ServedKind {
  apiVersion: string;
  group: string;
  version: string;
  /** The plural: `deployments`. */
  resource: string;
  kind: string;
  namespaced: boolean;
  /** Sorted. */
  clusters: string[];
  lacking: string[];
}

export interface ApiComparison {
  /** Sorted by group, resource and version. */
  kinds: ServedKind[];
  /** Clusters that have not told yet what they serve: nothing is said of them. */
  untold: string[];
}

/** What clusters serve, side by side, from what they told last. */
export function compareApis(clusters: readonly Cluster[]): ApiComparison {
  const nameOf = ({ metadata }: Cluster): string => metadata.name ?? '';
  const told = clusters.filter(({ status }) => status?.apis !== undefined);
  const names = told.map(nameOf).sort();
  const kinds = new Map<string, Omit<ServedKind, 'lacking'>>();
  for (const cluster of told) {
    for (const { groupVersion, resources } of cluster.status?.apis ?? []) {
      for (const { name, kind, namespaced } of resources) {
        const key = `${groupVersion} ${name} ${kind} ${namespaced}`;
        const present = kinds.get(key);
        if (present) present.clusters.push(nameOf(cluster));
        else {
          const identity = {
            apiVersion: groupVersion,
            ...parseApiVersion(groupVersion),
            resource: name,
            kind,
            namespaced,
          };
          kinds.set(key, { ...identity, clusters: [nameOf(cluster)] });
        }
      }
    }
  }
  return {
    kinds: [...kinds.values()]
      .map((kind) => {
        const serving = new Set(kind.clusters);
        return { ...kind, clusters: [...serving].sort(), lacking: names.filter((name) => !serving.has(name)) };
      })
      .sort(byGroupThenResource),
    untold: clusters
      .filter((cluster) => !told.includes(cluster))
      .map(nameOf)
      .sort(),
  };
}

function byGroupThenResource(a: ServedKind, b: ServedKind): number {
  return compare(a.group, b.group) || compare(a.resource, b.resource) || compare(a.version, b.version);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
