import type { Node, Pod } from '@asterism/machinery';
import { allocatable, refuseKind, shortage } from './choose-node.ts';
import { add, podRequests, type Resources, subtract } from './pod-requests.ts';

export interface Preemption {
  node: string;
  /** Those that have to go, the least important first. */
  victims: readonly Pod[];
}

/**
 * Where a pod finds room if less important ones go: where the most important of those matters least, then where the fewest go;
 * by name among equals. Undefined where that does not help, or the pod does not ask for it.
 */
export function chooseVictims(
  pod: Pod,
  offer: { nodes: readonly Node[]; used(node: string): Resources; podsOn(node: string): readonly Pod[] },
): Preemption | undefined {
  const priority = pod.spec?.priority ?? 0;
  if (pod.spec?.preemptionPolicy === 'Never') return undefined;
  const requests = podRequests(pod);
  const found = offer.nodes.flatMap((node): Preemption[] => {
    const name = node.metadata?.name ?? '';
    const room = allocatable(node);
    if (refuseKind(pod, node) !== undefined) return [];
    let needed = add(requests, offer.used(name));
    const lower = offer
      .podsOn(name)
      .filter((other) => priorityOf(other) < priority && other.metadata?.deletionTimestamp === undefined);
    const victims: Pod[] = [];
    for (const other of lower.toSorted((a, b) => priorityOf(a) - priorityOf(b))) {
      if (shortage(needed, room) === undefined) break;
      victims.push(other);
      needed = subtract(needed, podRequests(other));
    }
    return victims.length > 0 && shortage(needed, room) === undefined ? [{ node: name, victims }] : [];
  });
  const worst = ({ victims }: Preemption): number => Math.max(...victims.map(priorityOf));
  return found.toSorted(
    (a, b) => worst(a) - worst(b) || a.victims.length - b.victims.length || a.node.localeCompare(b.node),
  )[0];
}

const priorityOf = (pod: Pod): number => pod.spec?.priority ?? 0;
