import type { DaemonSet, Node, Pod, PodSpec, Toleration } from '@asterism/machinery';
import { untolerated, wantsNode } from './node-fit.ts';
import { isAvailable } from './pod-state.ts';
import { podsOf } from './rollout.ts';
import { stableSuffix } from './stable-suffix.ts';

export const POD_HASH_LABEL = 'controller-revision-hash';

export interface DaemonSetPlan {
  create: { name: string; node: string }[];
  remove: Pod[];
}

/** What a daemon puts up with, whatever its template says: it is there for as long as its node is. */
const OWN_TOLERATIONS: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

const HOST_NETWORK_TOLERATION: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/** The tolerations of a daemon's pods: those of its template, and the automatic ones that are not among them. */
export function daemonTolerations({ tolerations = [], hostNetwork }: PodSpec): Toleration[] {
  const own = hostNetwork ? [...OWN_TOLERATIONS, HOST_NETWORK_TOLERATION] : OWN_TOLERATIONS;
  const missing = own.filter(
    ({ key, effect }) =>
      !tolerations.some((each) => each.key === key && each.effect === effect && each.operator === 'Exists'),
  );
  return [...tolerations, ...missing];
}

/** Whether a daemon is to be started on a node, and whether one that is there may stay. */
export function daemonOn({ spec }: DaemonSet, node: Node): { starts: boolean; stays: boolean } {
  const pod = spec?.template?.spec;
  if (pod === undefined || !wantsNode(pod, node) || (pod.nodeName && pod.nodeName !== node.metadata?.name)) {
    return { starts: false, stays: false };
  }
  const tolerations = daemonTolerations(pod);
  return {
    starts: untolerated(node, tolerations, ['NoSchedule', 'NoExecute']) === undefined,
    stays: untolerated(node, tolerations, ['NoExecute']) === undefined,
  };
}

/** The node that a daemon's pod is on, or is meant for until it is bound. */
export function nodeOf(pod: Pod): string | undefined {
  if (pod.spec?.nodeName) return pod.spec.nodeName;
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.flatMap(({ matchFields = [] }) => matchFields).find(({ key }) => key === 'metadata.name')?.values?.[0];
}

/**
 * The next step of a DaemonSet.
 *
 * D1. One pod on each node that it wants and may start on; none where it may not stay, or whose node is gone.
 * D2. A pod that has ended is replaced; what is on its way out is waited for.
 * D3. RollingUpdate without surge: old pods that serve nobody go at once, the others as far as `maxUnavailable` allows. With
 *     surge: new ones are made beside the old, `maxSurge` at a time, and an old one goes when its new one is available.
 * D4. Names follow from the node, so a plan made twice makes nothing twice.
 */
export function planDaemonSet(
  set: DaemonSet,
  nodes: readonly Node[],
  pods: readonly Pod[],
  hash: string,
  now: number,
): DaemonSetPlan {
  const places = placesOf(set, nodes, pods);
  const plan: DaemonSetPlan = { create: [], remove: [] };
  const taken = new Set(pods.map(({ metadata }) => metadata?.name));
  const create = (node: string): void => {
    plan.create.push({ node, name: freeName(set, node, taken) });
  };
  const isRolling = set.spec?.updateStrategy?.type !== 'OnDelete';
  const surge = isRolling ? limitsOf(set, places).surge : 0;
  const known = new Set(nodes.map(({ metadata }) => metadata?.name));
  for (const pod of pods) if (!known.has(nodeOf(pod)) && !isLeaving(pod)) plan.remove.push(pod);
  for (const { name, starts, stays, pods: here } of places) {
    const alive = here.filter((pod) => !isLeaving(pod));
    const ended = alive.filter(hasEnded);
    const kept = alive.filter((pod) => !hasEnded(pod)).toSorted(byAge);
    plan.remove.push(...ended);
    if (!stays) plan.remove.push(...kept);
    else if (starts && here.length === 0) create(name);
    else plan.remove.push(...surplusOf(kept, surge > 0, hash));
  }
  if (isRolling) rollOn(set, places, hash, now, plan, create);
  return plan;
}

interface Place {
  name: string;
  starts: boolean;
  stays: boolean;
  pods: Pod[];
}

function placesOf(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): Place[] {
  const byNode = Map.groupBy(pods, nodeOf);
  return nodes.map((node) => {
    const name = node.metadata?.name ?? '';
    return { name, ...daemonOn(set, node), pods: byNode.get(name) ?? [] };
  });
}

/** Of several on one node the oldest stays; while one is rolled out beside another, the oldest of each template. */
function surplusOf(pods: readonly Pod[], surges: boolean, hash: string): Pod[] {
  if (!surges) return pods.slice(1);
  const isNew = (pod: Pod): boolean => pod.metadata?.labels?.[POD_HASH_LABEL] === hash;
  return [...pods.filter(isNew).slice(1), ...pods.filter((pod) => !isNew(pod)).slice(1)];
}

function rollOn(
  set: DaemonSet,
  places: readonly Place[],
  hash: string,
  now: number,
  plan: DaemonSetPlan,
  create: (node: string) => void,
): void {
  const { surge, unavailable } = limitsOf(set, places);
  const isServing = (pod: Pod): boolean => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
  const isNew = (pod: Pod): boolean => pod.metadata?.labels?.[POD_HASH_LABEL] === hash;
  const gone = new Set(plan.remove);
  let room = surge > 0 ? surge : unavailable;
  const candidates: { place: Place; old: Pod }[] = [];
  for (const place of places.filter(({ stays }) => stays)) {
    const alive = place.pods.filter((pod) => !isLeaving(pod) && !gone.has(pod));
    const fresh = alive.find(isNew);
    const old = alive.find((pod) => !isNew(pod));
    if (surge > 0) {
      if (fresh !== undefined && old !== undefined) {
        if (isServing(fresh)) plan.remove.push(old);
        else room -= 1;
      } else if (old !== undefined && place.starts) {
        if (isServing(old)) candidates.push({ place, old });
        else create(place.name);
      }
    } else if (old === undefined) {
      if (place.starts && (fresh === undefined || !isServing(fresh))) room -= 1;
    } else if (isServing(old)) {
      candidates.push({ place, old });
    } else {
      plan.remove.push(old);
      room -= 1;
    }
  }
  for (const { place, old } of candidates.slice(0, Math.max(0, room))) {
    if (surge > 0) create(place.name);
    else plan.remove.push(old);
  }
}

/** Percentages are of the nodes that it wants. Both limits zero would never end. */
function limitsOf({ spec }: DaemonSet, places: readonly Place[]): { surge: number; unavailable: number } {
  const desired = places.filter(({ starts }) => starts).length;
  const { maxSurge = 0, maxUnavailable = 1 } = spec?.updateStrategy?.rollingUpdate ?? {};
  const surge = podsOf(maxSurge, desired, 'up');
  const unavailable = podsOf(maxUnavailable, desired, 'up');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

function freeName({ metadata }: DaemonSet, node: string, taken: ReadonlySet<string | undefined>): string {
  for (let slot = 0; ; slot += 1) {
    const name = `${metadata?.name}-${stableSuffix(`${metadata?.uid}/${node}/${slot}`, 5)}`;
    if (!taken.has(name)) return name;
  }
}

const isLeaving = (pod: Pod): boolean => pod.metadata?.deletionTimestamp !== undefined;

const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

function byAge(a: Pod, b: Pod): number {
  return (
    (a.metadata?.creationTimestamp ?? '').localeCompare(b.metadata?.creationTimestamp ?? '') ||
    (a.metadata?.name ?? '').localeCompare(b.metadata?.name ?? '')
  );
}
