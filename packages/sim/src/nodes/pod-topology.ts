import {
  labelSelectorFromObject,
  type LabelSelector,
  matchesLabels,
  type Node,
  type Pod,
  type PodAffinityTerm,
} from '@asterism/machinery';
import { wantsNode } from '../workloads/node-fit.ts';

/** The pods that are there already. */
export interface Peers {
  nodes: readonly Node[];
  podsOn(node: string): readonly Pod[];
  /** Of those, the ones that keep others away. */
  guarded(): readonly Pod[];
  namespaceLabels(namespace: string): Readonly<Record<string, string>>;
}

type Counts = ReadonlyMap<string, number>;

interface Term {
  key: string;
  counts: Counts;
  weight: number;
}

interface Spread {
  key: string;
  counts: Counts;
  least: number;
  maxSkew: number;
  matchesItself: boolean;
  required: boolean;
}

/** How a pod wants to stand to the pods that are there: its affinities, its spread, and those that keep it away. */
export class PodTopology {
  readonly #together: readonly Term[];
  readonly #apart: readonly Term[];
  readonly #preferred: readonly Term[];
  readonly #spreads: readonly Spread[];
  /** Domains that pods which are there keep it out of. */
  readonly #closed: readonly { key: string; value: string }[];

  constructor(pod: Pod, peers: Peers) {
    const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
    const term = (of: PodAffinityTerm, weight = 1): Term => ({
      key: of.topologyKey,
      counts: countMatching(pod, of, peers),
      weight,
    });
    this.#together = (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [])
      .map((each) => ({ ...term(each), isFirst: selects(each, pod, pod, peers) }))
      // Where nobody matches, the first of a group may go anywhere.
      .filter(({ counts, isFirst }) => counts.size > 0 || !isFirst);
    this.#apart = (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((each) => term(each));
    this.#preferred = [
      ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((each) =>
        term(each.podAffinityTerm, each.weight),
      ),
      ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((each) =>
        term(each.podAffinityTerm, -each.weight),
      ),
    ];
    this.#spreads = spreadsOf(pod, peers);
    this.#closed = closedDomains(pod, peers);
  }

  /** Why the pod must not be on the node, as kube-scheduler says it. */
  refuse(node: Node): string | undefined {
    const labels = node.metadata?.labels ?? {};
    const present = ({ key, counts }: Term): boolean => (counts.get(labels[key] ?? '') ?? 0) > 0;
    if (!this.#together.every(present)) return "node(s) didn't match pod affinity rules";
    if (this.#apart.some((term) => labels[term.key] !== undefined && present(term)))
      return "node(s) didn't match pod anti-affinity rules";
    if (this.#closed.some(({ key, value }) => labels[key] === value))
      return "node(s) didn't satisfy existing pods anti-affinity rules";
    for (const { key, counts, least, maxSkew, matchesItself, required } of this.#spreads) {
      if (!required) continue;
      const value = labels[key];
      if (value === undefined) return "node(s) didn't match pod topology spread constraints (missing required label)";
      if ((counts.get(value) ?? 0) + (matchesItself ? 1 : 0) - least > maxSkew)
        return "node(s) didn't match pod topology spread constraints";
    }
    return undefined;
  }

  /** The higher, the rather; in the weights' own units. */
  score(node: Node): number {
    const labels = node.metadata?.labels ?? {};
    const wishes = this.#preferred.map(({ key, counts, weight }) => weight * (counts.get(labels[key] ?? '') ?? 0));
    const crowds = this.#spreads.map(({ key, counts }) => -10 * (counts.get(labels[key] ?? '') ?? 0));
    return [...wishes, ...crowds].reduce((sum, each) => sum + each, 0);
  }
}

/** How many pods that the term selects there are in each domain. */
function countMatching(pod: Pod, term: PodAffinityTerm, peers: Peers): Counts {
  return countPods(term.topologyKey, peers.nodes, peers, (other) => selects(term, pod, other, peers));
}

function countPods(key: string, nodes: readonly Node[], peers: Peers, isCounted: (pod: Pod) => boolean): Counts {
  const counts = new Map<string, number>();
  for (const { metadata } of nodes) {
    const value = metadata?.labels?.[key];
    if (value === undefined) continue;
    const found = peers.podsOn(metadata?.name ?? '').filter(isCounted).length;
    if (found > 0) counts.set(value, (counts.get(value) ?? 0) + found);
  }
  return counts;
}

/** Whether a term of `owner` selects `other`. */
function selects(term: PodAffinityTerm, owner: Pod, other: Pod, peers: Peers): boolean {
  const { labelSelector, namespaces = [], namespaceSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const namespace = other.metadata?.namespace ?? '';
  const own = namespaces.length === 0 && namespaceSelector === undefined && namespace === owner.metadata?.namespace;
  const chosen = namespaceSelector !== undefined && isSelected(namespaceSelector, peers.namespaceLabels(namespace));
  if (!own && !chosen && !namespaces.includes(namespace)) return false;
  const [labels, theirs] = [owner.metadata?.labels ?? {}, other.metadata?.labels ?? {}];
  return (
    labelSelector !== undefined &&
    isSelected(labelSelector, theirs) &&
    matchLabelKeys.every((key) => labels[key] === undefined || labels[key] === theirs[key]) &&
    mismatchLabelKeys.every((key) => labels[key] === undefined || labels[key] !== theirs[key])
  );
}

function isSelected(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return matchesLabels(labelSelectorFromObject(selector), labels);
}

function spreadsOf(pod: Pod, peers: Peers): Spread[] {
  const labels = pod.metadata?.labels ?? {};
  return (pod.spec?.topologySpreadConstraints ?? []).map((constraint) => {
    const { topologyKey: key, labelSelector = {}, maxSkew, matchLabelKeys = [], whenUnsatisfiable } = constraint;
    const counted = (other: Pod): boolean =>
      other.metadata?.namespace === pod.metadata?.namespace &&
      other.metadata?.deletionTimestamp === undefined &&
      isSelected(labelSelector, other.metadata?.labels ?? {}) &&
      matchLabelKeys.every((each) => labels[each] === other.metadata?.labels?.[each]);
    const eligible = peers.nodes.filter((node) => pod.spec === undefined || wantsNode(pod.spec, node));
    const counts = countPods(key, eligible, peers, counted);
    const domains = new Set(eligible.flatMap(({ metadata }) => metadata?.labels?.[key] ?? []));
    const least =
      domains.size < (constraint.minDomains ?? 0)
        ? 0
        : Math.min(...[...domains].map((value) => counts.get(value) ?? 0));
    const required = whenUnsatisfiable !== 'ScheduleAnyway';
    return { key, counts, least, maxSkew, matchesItself: counted(pod), required };
  });
}

function closedDomains(pod: Pod, peers: Peers): { key: string; value: string }[] {
  const labelsOf = (name: string) => peers.nodes.find(({ metadata }) => metadata?.name === name)?.metadata?.labels;
  return peers.guarded().flatMap((other) => {
    const terms = other.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    return terms.flatMap((term) => {
      const value = labelsOf(other.spec?.nodeName ?? '')?.[term.topologyKey];
      return value !== undefined && selects(term, other, pod, peers) ? [{ key: term.topologyKey, value }] : [];
    });
  });
}
