import {
  meetsNodeRequirement,
  type Node,
  type NodeSelectorTerm,
  type PodSpec,
  type Toleration,
} from '@asterism/machinery';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

/** Whether the node has what `nodeSelector` and the required node affinity ask for. */
export function wantsNode(spec: Pick<PodSpec, 'nodeSelector' | 'affinity'>, node: Node): boolean {
  const labels = node.metadata?.labels ?? {};
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesNodeTerm(term, node));
}

/** All of a term's requirements hold. One that asks for nothing matches nothing. */
export function matchesNodeTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { 'metadata.name': node.metadata?.name ?? '' };
  const labels = node.metadata?.labels ?? {};
  return (
    matchExpressions.every((requirement) => meetsNodeRequirement(requirement, labels)) &&
    matchFields.every((requirement) => meetsNodeRequirement(requirement, fields))
  );
}

/** The first of the node's taints with one of these effects that nothing tolerates. */
export function untolerated(
  node: Node,
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | undefined {
  return (node.spec?.taints ?? []).find(
    (taint) => effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Whether a toleration is for that taint, for whatever time. */
export function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (!key) return operator === 'Exists';
  if (key !== taint.key) return false;
  switch (operator) {
    case 'Exists':
      return true;
    case 'Gt':
    case 'Lt': {
      const [mine, theirs] = [Number(value), Number(taint.value)];
      return operator === 'Gt' ? theirs > mine : theirs < mine;
    }
    default:
      return value === (taint.value ?? '');
  }
}
