import type { ContainerStatus, Job, Pod, PodFailurePolicyRule } from '@asterism/machinery';

export interface PodFailure {
  action: PodFailurePolicyRule['action'];
  /** For the Job's condition. */
  message: string;
}

/** What the first rule of `spec.podFailurePolicy` that a failed pod matches says; `Count` where none does. */
export function judgePodFailure({ spec }: Job, pod: Pod): PodFailure {
  for (const [index, rule] of (spec?.podFailurePolicy?.rules ?? []).entries()) {
    const why = rule.onExitCodes ? exitCodeMatch(rule, pod) : conditionMatch(rule, pod);
    if (why !== undefined)
      return { action: rule.action, message: `${why} matching ${rule.action} rule at index ${index}` };
  }
  return { action: 'Count', message: '' };
}

function exitCodeMatch({ onExitCodes }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { namespace, name } = pod.metadata ?? {};
  const statuses: ContainerStatus[] = [
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.initContainerStatuses ?? []),
  ];
  for (const { name: container, state } of statuses) {
    const { exitCode = 0 } = state?.terminated ?? {};
    if (exitCode === 0 || onExitCodes === undefined) continue;
    if (onExitCodes.containerName && onExitCodes.containerName !== container) continue;
    const isListed = onExitCodes.values.includes(exitCode);
    if (isListed !== (onExitCodes.operator === 'In')) continue;
    return `Container ${container} for pod ${namespace}/${name} failed with exit code ${exitCode}`;
  }
  return undefined;
}

function conditionMatch({ onPodConditions = [] }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { namespace, name } = pod.metadata ?? {};
  const found = onPodConditions.find(({ type, status = 'True' }) =>
    pod.status?.conditions?.some((condition) => condition.type === type && condition.status === status),
  );
  return found && `Pod ${namespace}/${name} has condition ${found.type}`;
}
