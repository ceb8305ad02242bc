import {
  type Deployment,
  type DeploymentCondition,
  type DeploymentStatus,
  findCondition,
  type ReplicaSet,
} from '@asterism/machinery';
import { rollingLimits } from './rollout.ts';

const HASH_LABEL = 'pod-template-hash';

/** What a Deployment says of itself, from the ReplicaSets that it has; `rollout status` and `wait` read it. */
export function deploymentStatus(
  deployment: Deployment,
  owned: readonly ReplicaSet[],
  hash: string,
  now: string,
): DeploymentStatus {
  const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
    sets.reduce((total, set) => total + (count(set) ?? 0), 0);
  const current = owned.filter((set) => set.metadata?.labels?.[HASH_LABEL] === hash);
  const desired = deployment.spec?.replicas ?? 1;
  const counts = {
    replicas: sum(owned, ({ status }) => status?.replicas),
    updatedReplicas: sum(current, ({ status }) => status?.replicas),
    readyReplicas: sum(owned, ({ status }) => status?.readyReplicas),
    availableReplicas: sum(owned, ({ status }) => status?.availableReplicas),
  };
  const unavailable = Math.max(0, sum(owned, ({ spec }) => spec?.replicas) - counts.availableReplicas);
  return {
    observedGeneration: deployment.metadata?.generation ?? 0,
    ...present({ ...counts, unavailableReplicas: unavailable }),
    conditions: conditionsOf(deployment, counts, desired, `${deployment.metadata?.name}-${hash}`, now),
  };
}

/** Go leaves zeros out of a Deployment's status, and clients compare. */
function present(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

function conditionsOf(
  deployment: Deployment,
  counts: { replicas: number; updatedReplicas: number; availableReplicas: number },
  desired: number,
  replicaSet: string,
  now: string,
): DeploymentCondition[] {
  const { maxUnavailable } = rollingLimits(desired, deployment.spec?.strategy?.rollingUpdate);
  const available = counts.availableReplicas >= desired - maxUnavailable;
  const complete =
    counts.updatedReplicas === desired && counts.replicas === desired && counts.availableReplicas >= desired;
  return [
    keepTimes(deployment, now, {
      type: 'Available',
      status: available ? 'True' : 'False',
      reason: available ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: available ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
    }),
    keepTimes(deployment, now, {
      type: 'Progressing',
      status: 'True',
      reason: complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
      message: complete
        ? `ReplicaSet "${replicaSet}" has successfully progressed.`
        : `ReplicaSet "${replicaSet}" is progressing.`,
    }),
  ];
}

/** A condition that says what it said before keeps its times: nothing is written because time passes. */
function keepTimes(deployment: Deployment, now: string, condition: DeploymentCondition): DeploymentCondition {
  const before = findCondition(deployment.status?.conditions, condition.type) as DeploymentCondition | undefined;
  if (before?.status !== condition.status) return { ...condition, lastTransitionTime: now, lastUpdateTime: now };
  const unchanged = before.reason === condition.reason && before.message === condition.message;
  return unchanged
    ? before
    : { ...condition, lastTransitionTime: before.lastTransitionTime ?? now, lastUpdateTime: now };
}
