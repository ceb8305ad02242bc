import { isConditionTrue, milliValue, type Node, parseQuantity, type Pod, quantityToNumber } from '@asterism/machinery';
import { matchesNodeTerm, tolerates, wantsNode } from '../workloads/node-fit.ts';
import { add, podRequests, type Resources } from './pod-requests.ts';
import type { PodTopology } from './pod-topology.ts';

export type Choice = { node: string } | { node: undefined; message: string };

/** What a choice is made by. */
export interface NodeOffer {
  nodes: readonly Node[];
  used(node: string): Resources;
  /** How the pod stands to others; nothing where it is left out. */
  topology?: PodTopology | undefined;
}

/**
 * The node for a pod: of those that are ready, wanted, tolerated, have room and keep its distances, the one that it prefers,
 * then the one with the largest share of its CPU and memory still free; by name among equals. Where none fits the message
 * counts why not, as kube-scheduler's does.
 */
export function chooseNode(pod: Pod, offer: NodeOffer): Choice {
  const { nodes, used } = offer;
  const requests = podRequests(pod);
  const refusals = new Map<string, number>();
  let best: { name: string; wish: number; free: number } | undefined;
  for (const node of nodes) {
    const name = node.metadata?.name ?? '';
    const taken = add(requests, used(name));
    const refusal = refuse(pod, node, taken, offer.topology);
    if (refusal !== undefined) {
      refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1);
      continue;
    }
    const candidate = {
      name,
      wish: preference(pod, node) + (offer.topology?.score(node) ?? 0),
      free: freeShare(node, taken),
    };
    if (best === undefined || isBetter(candidate, best)) best = candidate;
  }
  if (best !== undefined) return { node: best.name };
  const reasons = [...refusals].sort(([a], [b]) => a.localeCompare(b)).map(([reason, count]) => `${count} ${reason}`);
  return {
    node: undefined,
    message: `0/${nodes.length} nodes are available: ${reasons.join(', ') || 'there are none'}.`,
  };
}

interface Candidate {
  name: string;
  wish: number;
  free: number;
}

function isBetter(a: Candidate, b: Candidate): boolean {
  return (a.wish - b.wish || a.free - b.free || b.name.localeCompare(a.name)) > 0;
}

function refuse(pod: Pod, node: Node, taken: Resources, topology: PodTopology | undefined): string | undefined {
  return refuseKind(pod, node) ?? shortage(taken, allocatable(node)) ?? topology?.refuse(node);
}

/** Why a node will not do, whatever room it has. */
export function refuseKind(pod: Pod, node: Node): string | undefined {
  const { tolerations = [] } = pod.spec ?? {};
  if (!isConditionTrue(node.status?.conditions, 'Ready')) return 'node(s) were not ready';
  const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' as const };
  if (node.spec?.unschedulable && !tolerations.some((each) => tolerates(each, cordon)))
    return 'node(s) were unschedulable';
  if (pod.spec !== undefined && !wantsNode(pod.spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  const taint = (node.spec?.taints ?? []).find(
    (candidate) => candidate.effect !== 'PreferNoSchedule' && !tolerations.some((each) => tolerates(each, candidate)),
  );
  return taint && `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
}

/** What of a node's resources would not suffice. */
export function shortage(needed: Resources, available: Resources): string | undefined {
  if (needed.pods > available.pods) return 'Too many pods';
  if (needed.milliCpu > available.milliCpu) return 'Insufficient cpu';
  if (needed.memory > available.memory) return 'Insufficient memory';
  return undefined;
}

/** By preferred node affinity, less for what it would rather not tolerate. */
function preference(pod: Pod, node: Node): number {
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const wishes = preferred.filter((term) => matchesNodeTerm(term.preference, node)).map(({ weight }) => weight);
  const { tolerations = [] } = pod.spec ?? {};
  const avoided = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((each) => tolerates(each, taint)),
  );
  return wishes.reduce((sum, weight) => sum + weight, -100 * avoided.length);
}

export function allocatable(node: Node): Resources {
  const quantity = (resource: string) => parseQuantity(node.status?.allocatable?.[resource] ?? '0');
  return {
    milliCpu: milliValue(quantity('cpu')),
    memory: quantityToNumber(quantity('memory')),
    pods: quantityToNumber(quantity('pods')),
  };
}

function freeShare(node: Node, taken: Resources): number {
  const total = allocatable(node);
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : 1 - part / whole);
  return share(taken.milliCpu, total.milliCpu) + share(taken.memory, total.memory) + share(taken.pods, total.pods) / 10;
}
