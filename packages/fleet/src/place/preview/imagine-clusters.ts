import type { Cluster } from '../../api/index.ts';

/** What would be otherwise of a fleet's clusters. */
export interface ClusterHypothesis {
  /** Names of clusters that would be gone, with what stands there. */
  without: readonly string[];
  /** Clusters that would have joined; one of the name of another takes its place. */
  with: readonly Cluster[];
}

/** The clusters of a fleet as they would be. A name in `without` that none has changes nothing: the caller says so. */
export function imagineClusters(clusters: readonly Cluster[], hypothesis: ClusterHypothesis): Cluster[] {
  const replaced = new Set([...hypothesis.without, ...hypothesis.with.map(({ metadata }) => metadata.name)]);
  return [...clusters.filter(({ metadata }) => !replaced.has(metadata.name)), ...hypothesis.with];
}

/**
 * A cluster as another is now, under a name of its own: of the same labels, place, taints and APIs, and with as much room. It
 * holds none of what was placed in the other.
 */
export function clusterLike(name: string, { apiVersion, kind, metadata, spec, status }: Cluster): Cluster {
  const { labels } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, ...(labels ? { labels } : {}) },
    spec: { ...spec, id: name },
    ...(status ? { status } : {}),
  };
}
