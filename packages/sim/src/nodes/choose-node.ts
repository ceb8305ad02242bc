import { isConditionTrue, milliValue, type Node, parseQuantity, type Pod, quantityToNumber } from '@asterism/machinery';
import { wantsNode } from '../workloads/node-fit.ts';
import { add, podRequests, type Resources } from './pod-requests.ts';

export type Choice = { node: string } | { node: undefined; message: string };

/**
 * The node for a pod: of those that are ready, wanted, tolerated and have room, the one with the largest share of its CPU
 * and memory still free; by name among equals. Where none fits the message counts why not, as kube-scheduler's does.
 */
export function chooseNode(pod: Pod, nodes: readonly Node[], used: (node: string) => Resources): Choice {
  const refusals = new Map<string, number>();
  const fitting = nodes.filter((node) => {
    const refusal = refuse(pod, node, used(node.metadata?.name ?? ''));
    if (refusal !== undefined) refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1);
    return refusal === undefined;
  });
  const [best] = fitting.toSorted(
    (a, b) => freeShare(b, used) - freeShare(a, used) || (a.metadata?.name ?? '').localeCompare(b.metadata?.name ?? ''),
  );
  if (best !== undefined) return { node: best.metadata?.name ?? '' };
  const reasons = [...refusals].sort(([a], [b]) => a.localeCompare(b)).map(([reason, count]) => `${count} ${reason}`);
  return {
    node: undefined,
    message: `0/${nodes.length} nodes are available: ${reasons.join(', ') || 'there are none'}.`,
  };
}

function refuse(pod: Pod, node: Node, used: Resources): string | undefined {
  if (!isConditionTrue(node.status?.conditions, 'Ready')) return 'node(s) were not ready';
  if (node.spec?.unschedulable && !toleratesCordon(pod)) return 'node(s) were unschedulable';
  if (pod.spec !== undefined && !wantsNode(pod.spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  const taint = (node.spec?.taints ?? []).find(
    (candidate) => candidate.effect !== 'PreferNoSchedule' && !tolerates(pod, candidate),
  );
  if (taint !== undefined) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
  return shortage(add(podRequests(pod), used), allocatable(node));
}

function toleratesCordon(pod: Pod): boolean {
  return tolerates(pod, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' });
}

function tolerates(pod: Pod, taint: { key: string; value?: string; effect: string }): boolean {
  return (pod.spec?.tolerations ?? []).some(
    ({ key, operator = 'Equal', value = '', effect }) =>
      (!effect || effect === taint.effect) &&
      (key === undefined || key === '' ? operator === 'Exists' : key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  );
}

function shortage(needed: Resources, available: Resources): string | undefined {
  if (needed.pods > available.pods) return 'Too many pods';
  if (needed.milliCpu > available.milliCpu) return 'Insufficient cpu';
  if (needed.memory > available.memory) return 'Insufficient memory';
  return undefined;
}

export function allocatable(node: Node): Resources {
  const quantity = (resource: string) => parseQuantity(node.status?.allocatable?.[resource] ?? '0');
  return {
    milliCpu: milliValue(quantity('cpu')),
    memory: quantityToNumber(quantity('memory')),
    pods: quantityToNumber(quantity('pods')),
  };
}

function freeShare(node: Node, used: (node: string) => Resources): number {
  const total = allocatable(node);
  const taken = used(node.metadata?.name ?? '');
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : 1 - part / whole);
  return share(taken.milliCpu, total.milliCpu) + share(taken.memory, total.memory) + share(taken.pods, total.pods) / 10;
}
