import { findCondition, type Node } from '@asterism/machinery';

export type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const EFFECTS = ['NoSchedule', 'NoExecute'] as const;

/**
 * The taints that a node should have: `node.kubernetes.io/not-ready` for as long as it says that it is not ready, and
 * `node.kubernetes.io/unreachable` for as long as nothing is heard of it, each with `NoSchedule` and `NoExecute`, as
 * kube-controller-manager gives and takes them; undefined where it has the right ones.
 */
export function rightTaints(node: Node, now: string): Taint[] | undefined {
  const taints = node.spec?.taints ?? [];
  const isOwn = ({ key, effect }: Taint): boolean =>
    (key === NOT_READY || key === UNREACHABLE) && EFFECTS.some((each) => each === effect);
  const { status = 'False' } = findCondition(node.status?.conditions, 'Ready') ?? {};
  const key = status === 'True' ? undefined : status === 'Unknown' ? UNREACHABLE : NOT_READY;
  const own = taints.filter(isOwn);
  const wanted = key === undefined ? [] : EFFECTS.map((effect) => ({ key, effect }));
  const isRight =
    own.length === wanted.length &&
    wanted.every(({ effect }) => own.some((taint) => taint.key === key && taint.effect === effect));
  if (isRight) return undefined;
  const kept = (each: { key: string; effect: string }): Taint | undefined =>
    own.find((taint) => taint.key === each.key && taint.effect === each.effect);
  return [
    ...taints.filter((taint) => !isOwn(taint)),
    ...wanted.map((each) => kept(each) ?? { ...each, timeAdded: now }),
  ];
}
