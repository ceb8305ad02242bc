import { isJsonObject, type KubeObject } from '@asterism/machinery';
import type { TargetCluster } from '../../api/index.ts';
import { divideByWeight } from '../../place/divide-by-weight.ts';
import { tieBreakOf } from '../../template/tie-break.ts';
import { replicaFieldOf, replicasOf } from '../../template/workload.ts';

export interface Share {
  /** The cluster that the object is for. */
  cluster: string;
  /** The whole result that the share is a part of. */
  clusters: readonly TargetCluster[];
  /** Whether replicas were divided; else every cluster has all of them. */
  divided: boolean;
  /** Of the template: it breaks ties. */
  uid: string | undefined;
}

/**
 * Sets the cluster's share of replicas: `replicas`, or `parallelism` of a Job, whose completions are divided with it. An
 * object without replicas, and a share without a number, leaves all as it is; so does a whole one, by which a Job keeps a parallelism
 * beyond its completions.
 */
export function reviseReplicas(object: KubeObject, share: Share): KubeObject {
  const field = replicaFieldOf(object);
  const replicas = share.clusters.find(({ name }) => name === share.cluster)?.replicas;
  if (!field || replicas === undefined) return object;
  if (!share.divided && replicas === replicasOf(object)) return object;
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  const completions = share.divided ? completionsOf(spec, share) : undefined;
  return { ...object, spec: { ...spec, [field]: replicas, ...(completions === undefined ? {} : { completions }) } };
}

function completionsOf(
  { completions }: Record<string, unknown>,
  { cluster, clusters, uid }: Share,
): number | undefined {
  if (typeof completions !== 'number') return undefined;
  const weighted = clusters.map(({ name, replicas = 0 }) => ({ name, weight: replicas }));
  return divideByWeight(completions, weighted, tieBreakOf(uid)).get(cluster) ?? 0;
}
