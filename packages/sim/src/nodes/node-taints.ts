import { isConditionTrue, type Node } from '@asterism/machinery';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

const NOT_READY = 'node.kubernetes.io/not-ready';

/**
 * The taints that a node should have: `node.kubernetes.io/not-ready:NoSchedule` for as long as it is not ready, as the API server
 * gives it to every new node and kube-controller-manager takes it off; undefined where it has the right ones.
 */
export function rightTaints(node: Node): Taint[] | undefined {
  const taints = node.spec?.taints ?? [];
  const others = taints.filter(({ key, effect }) => key !== NOT_READY || effect !== 'NoSchedule');
  const isTainted = others.length < taints.length;
  const isReady = isConditionTrue(node.status?.conditions, 'Ready');
  if (isReady !== isTainted) return undefined;
  return isReady ? others : [...others, { key: NOT_READY, effect: 'NoSchedule' }];
}
