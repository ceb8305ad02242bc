import { type KubeObject, parseApiVersion } from '@asterism/machinery';

/**
 * What others need, stage by stage: of one stage nothing needs another. Pods are refused, or made otherwise, where a class, a limit or
 * their service account is missing; a token's Secret is deleted where its account is; a binding is refused where its role is.
 */
const STAGES: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition.apiextensions.k8s.io'],
  [
    'ServiceAccount',
    'Role.rbac.authorization.k8s.io',
    'ClusterRole.rbac.authorization.k8s.io',
    'LimitRange',
    'ResourceQuota',
    'PriorityClass.scheduling.k8s.io',
    'RuntimeClass.node.k8s.io',
    'StorageClass.storage.k8s.io',
    'PersistentVolume',
  ],
  [
    'RoleBinding.rbac.authorization.k8s.io',
    'ClusterRoleBinding.rbac.authorization.k8s.io',
    'ConfigMap',
    'Secret',
    'PersistentVolumeClaim',
  ],
];

const STAGE_OF: ReadonlyMap<string, number> = new Map(
  STAGES.flatMap((kinds, stage) => kinds.map((kind) => [kind, stage])),
);

/** The stage of all that nobody needs first. */
export const LAST_STAGE = STAGES.length;

type OfKind = Pick<KubeObject, 'apiVersion' | 'kind'>;

/** In which stage an object is applied, from 0 on: it may need what is of an earlier one, and nothing else. */
export function applyStage({ apiVersion = '', kind = '' }: OfKind): number {
  const { group } = parseApiVersion(apiVersion);
  return STAGE_OF.get(group ? `${kind}.${group}` : kind) ?? LAST_STAGE;
}

/** Prerequisites before what needs them; otherwise in the order of the list. */
export function inApplyOrder<T>(items: readonly T[], stageOf: (item: T) => number): T[] {
  const stages = Map.groupBy(items, stageOf);
  return [...stages.keys()].toSorted((a, b) => a - b).flatMap((stage) => stages.get(stage) ?? []);
}
