import type { KubeObject } from '@asterism/machinery';
import type { Cluster, Placement } from '../api/index.ts';
import type { Binding } from '../template/binding-client.ts';
import { asksForRoom } from './decide.ts';
import { strategyOf } from './divide-replicas.ts';
import type { KnownClusters } from './known-clusters.ts';
import type { ReplicaEstimate } from './replica-estimate.ts';
import { readSpread } from './spread-constraint.ts';
import { formatTemplateKey, type TemplateIdentity, type TemplateKey, templateKeyOf } from '../template/template-key.ts';
import { workloadOf } from '../template/workload.ts';

/** A template for which there was too little room. */
interface Refused {
  key: TemplateKey;
  replicas: number;
  roomFor: ReplicaEstimate;
  /** What each cluster can hold, with what is there already, by its place in the fleet; `NaN` where it does not come into question. */
  available: Float64Array;
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
  /** The place of each cluster, by name: for thousands of templates a number a cluster is kept, and no name. */
  readonly #places = new Map<string, number>();

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
    for (const { metadata } of clusters) this.#placeOf(metadata.name ?? '');
    const available = new Float64Array(this.#places.size).fill(Number.NaN);
    for (const { metadata, status } of clusters) {
      const { name = '' } = metadata;
      if (candidates.has(name)) available[this.#placeOf(name)] = roomFor(status) + (assigned.get(name) ?? 0);
    }
    this.#refused.set(formatTemplateKey(key), {
      key,
      replicas: workload.replicas,
      roomFor,
      available,
      total: sum(roomsOf(available)),
      assigned,
      // A group may have a cluster beyond the bound on clusters.
      clusters: byGroups ? Infinity : (spread.cluster?.maxGroups ?? Infinity),
      byGroups,
    });
  }

  forget(key: TemplateKey | TemplateIdentity): void {
    this.#refused.delete(formatTemplateKey(key));
  }

  /** Those that may fit now that a cluster says what room it has. */
  helpedBy({ metadata, status }: Cluster): TemplateKey[] {
    const { name = '' } = metadata;
    const place = this.#placeOf(name);
    const helped: TemplateKey[] = [];
    for (const refused of this.#refused.values()) {
      const before = refused.available[place];
      if (before === undefined || Number.isNaN(before)) continue;
      const now = refused.roomFor(status) + (refused.assigned.get(name) ?? 0);
      if (now === before) continue;
      refused.available[place] = now;
      refused.total += now - before;
      if ((now > before || refused.byGroups) && mayBeEnough(refused)) helped.push(refused.key);
    }
    return helped;
  }

  #placeOf(name: string): number {
    const present = this.#places.get(name);
    if (present !== undefined) return present;
    const next = this.#places.size;
    this.#places.set(name, next);
    return next;
  }
}

function mayBeEnough({ total, replicas, clusters, available }: Refused): boolean {
  if (total < replicas) return false;
  if (clusters === Infinity) return true;
  const roomiest = roomsOf(available).sort((a, b) => b - a);
  return sum(roomiest.slice(0, clusters)) >= replicas;
}

function roomsOf(available: Float64Array): number[] {
  return [...available].filter((room) => !Number.isNaN(room));
}

/** The clusters that no filter keeps away. Where there are several groups of affinities, the reasons are those of one. */
function candidatesOf({ decisions = [] }: Binding['spec'], { clusterAffinities = [] }: Placement): ReadonlySet<string> {
  const reasons = new Set(['Unschedulable', 'Kept', ...(clusterAffinities.length > 0 ? ['ClusterAffinity'] : [])]);
  return new Set(decisions.filter(({ reason }) => reasons.has(reason)).map(({ cluster }) => cluster));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
