import type { KubeObject } from '@asterism/machinery';
import type { Cluster, Placement } from '../api/index.ts';
import type { Binding } from './binding-client.ts';
import { asksForRoom } from './decide.ts';
import { strategyOf } from './divide-replicas.ts';
import type { KnownClusters } from './known-clusters.ts';
import type { ReplicaEstimate } from './replica-estimate.ts';
import { readSpread } from './spread-constraint.ts';
import { formatTemplateKey, type TemplateKey, templateKeyOf } from './template-key.ts';
import { workloadOf } from './workload.ts';

/** A template for which there was too little room. */
interface Refused {
  key: TemplateKey;
  replicas: number;
  roomFor: ReplicaEstimate;
  /** Of every cluster that may come into question, what it can hold, with what is there already. */
  available: Map<string, number>;
  total: number;
  assigned: ReadonlyMap<string, number>;
  /** In how many clusters it may stand. */
  clusters: number;
  /** Whether less room somewhere may help too, as where groups of clusters are chosen by their room. */
  byGroups: boolean;
}

/**
 * The templates that found too little room, and what they found. Clusters tell of their room every few seconds: it is looked at for
 * these alone, and one is decided anew only where its room has grown to where it may be enough. What was refused for another reason is
 * not helped by room.
 */
export class RefusedTemplates {
  readonly #known: KnownClusters;
  readonly #refused = new Map<string, Refused>();

  constructor(known: KnownClusters) {
    this.#known = known;
  }

  /** Notes how the decision about a template among these clusters has ended. */
  note(template: KubeObject, spec: Binding['spec'], clusters: readonly Cluster[]): void {
    const key = templateKeyOf(template);
    const workload = spec.unschedulable?.reason === 'Unschedulable' ? workloadOf(template) : undefined;
    const { placement = {} } = spec;
    if (!workload || !asksForRoom(strategyOf(placement.replicaScheduling), placement)) return this.forget(key);
    const spread = readSpread(placement.spreadConstraints);
    if ('refused' in spread) return this.forget(key);
    const byGroups = spread.groupings.length > 0;
    const roomFor = this.#known.estimates.of(workload);
    const assigned = new Map(spec.clusters?.map(({ name, replicas = 0 }) => [name, replicas]));
    const candidates = candidatesOf(spec, placement);
    const available = new Map<string, number>();
    for (const { metadata, status } of clusters) {
      const { name = '' } = metadata;
      if (candidates.has(name)) available.set(name, roomFor(status) + (assigned.get(name) ?? 0));
    }
    this.#refused.set(formatTemplateKey(key), {
      key,
      replicas: workload.replicas,
      roomFor,
      available,
      total: sum([...available.values()]),
      assigned,
      // A group may have a cluster beyond the bound on clusters.
      clusters: byGroups ? Infinity : (spread.cluster?.maxGroups ?? Infinity),
      byGroups,
    });
  }

  forget(key: TemplateKey): void {
    this.#refused.delete(formatTemplateKey(key));
  }

  /** Those that may fit now that a cluster says what room it has. */
  helpedBy({ metadata, status }: Cluster): TemplateKey[] {
    const { name = '' } = metadata;
    const helped: TemplateKey[] = [];
    for (const refused of this.#refused.values()) {
      const before = refused.available.get(name);
      if (before === undefined) continue;
      const now = refused.roomFor(status) + (refused.assigned.get(name) ?? 0);
      if (now === before) continue;
      refused.available.set(name, now);
      refused.total += now - before;
      if ((now > before || refused.byGroups) && mayBeEnough(refused)) helped.push(refused.key);
    }
    return helped;
  }
}

function mayBeEnough({ total, replicas, clusters, available }: Refused): boolean {
  if (total < replicas) return false;
  if (clusters >= available.size) return true;
  const roomiest = [...available.values()].toSorted((a, b) => b - a).slice(0, clusters);
  return sum(roomiest) >= replicas;
}

/** The clusters that no filter keeps away. Where there are several groups of affinities, the reasons are those of one. */
function candidatesOf({ decisions = [] }: Binding['spec'], { clusterAffinities = [] }: Placement): ReadonlySet<string> {
  const reasons = new Set(['Unschedulable', 'Kept', ...(clusterAffinities.length > 0 ? ['ClusterAffinity'] : [])]);
  return new Set(decisions.filter(({ reason }) => reasons.has(reason)).map(({ cluster }) => cluster));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
