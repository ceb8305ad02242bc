import {
  type Deployment,
  type DeploymentCondition,
  type DeploymentStatus,
  findCondition,
  formatTime,
  type ReplicaSet,
} from '@asterism/machinery';
import { rollingLimits } from './rollout.ts';

const HASH_LABEL = 'pod-template-hash';

interface Counts {
  replicas: number;
  updatedReplicas: number;
  readyReplicas: number;
  availableReplicas: number;
}

/** What a Deployment says of itself, from the ReplicaSets that it has; `rollout status` and `wait` read it. */
export function deploymentStatus(
  deployment: Deployment,
  owned: readonly ReplicaSet[],
  hash: string,
  now: number,
): DeploymentStatus {
  const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
    sets.reduce((total, set) => total + (count(set) ?? 0), 0);
  const current = owned.filter((set) => set.metadata?.labels?.[HASH_LABEL] === hash);
  const counts = {
    replicas: sum(owned, ({ status }) => status?.replicas),
    updatedReplicas: sum(current, ({ status }) => status?.replicas),
    readyReplicas: sum(owned, ({ status }) => status?.readyReplicas),
    availableReplicas: sum(owned, ({ status }) => status?.availableReplicas),
  };
  const unavailable = Math.max(0, sum(owned, ({ spec }) => spec?.replicas) - counts.availableReplicas);
  const name = `${deployment.metadata?.name}-${hash}`;
  return {
    observedGeneration: deployment.metadata?.generation ?? 0,
    ...present({ ...counts, unavailableReplicas: unavailable }),
    ...(deployment.status?.collisionCount === undefined ? {} : { collisionCount: deployment.status.collisionCount }),
    conditions: [
      available(deployment, counts, now),
      progressing(deployment, counts, name, now),
      ...failures(deployment, owned, now),
    ],
  };
}

/** In how many ms the rollout is late, as far as it goes on; undefined where it is over or has no deadline. */
export function untilDeadline({ spec }: Deployment, { conditions }: DeploymentStatus, now: number): number | undefined {
  const progress = findCondition(conditions, 'Progressing');
  const deadline = spec?.progressDeadlineSeconds ?? UNLIMITED;
  if (deadline === UNLIMITED || progress?.status !== 'True' || progress.reason === 'NewReplicaSetAvailable')
    return undefined;
  return Math.max(1000, Date.parse(progress.lastUpdateTime ?? '') + deadline * 1000 - now + 1000);
}

/** What `progressDeadlineSeconds` is where nobody wants a deadline. */
const UNLIMITED = 2_147_483_647;

/** Go leaves zeros out of a Deployment's status, and clients compare. */
function present(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

function available(deployment: Deployment, counts: Counts, now: number): DeploymentCondition {
  const desired = deployment.spec?.replicas ?? 1;
  const isRecreate = deployment.spec?.strategy?.type === 'Recreate';
  const limits = rollingLimits(desired, deployment.spec?.strategy?.rollingUpdate);
  const isAvailable = counts.availableReplicas >= desired - (isRecreate ? 0 : limits.maxUnavailable);
  return keepTimes(deployment, now, {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: isAvailable ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
  });
}

function progressing(deployment: Deployment, counts: Counts, replicaSet: string, now: number): DeploymentCondition {
  const type = 'Progressing';
  const before = findCondition(deployment.status?.conditions, type);
  const desired = deployment.spec?.replicas ?? 1;
  const say = (status: string, reason: string, message: string): DeploymentCondition =>
    keepTimes(deployment, now, { type, status, reason, message });
  if (deployment.spec?.paused) return say('Unknown', 'DeploymentPaused', 'Deployment is paused');
  const isComplete =
    counts.updatedReplicas === desired && counts.replicas === desired && counts.availableReplicas >= desired;
  if (isComplete) {
    return say('True', 'NewReplicaSetAvailable', `ReplicaSet "${replicaSet}" has successfully progressed.`);
  }
  if (before?.reason === 'DeploymentPaused') return say('Unknown', 'DeploymentResumed', 'Deployment is resumed');
  const isNew =
    before?.reason === 'NewReplicaSetAvailable' ||
    deployment.status?.observedGeneration !== deployment.metadata?.generation;
  const late = `ReplicaSet "${replicaSet}" has timed out progressing.`;
  if (!hasProgressed(deployment, counts) && !isNew && before !== undefined && isLate(deployment, before, now)) {
    return say('False', 'ProgressDeadlineExceeded', late);
  }
  const next = say('True', 'ReplicaSetUpdated', `ReplicaSet "${replicaSet}" is progressing.`);
  return hasProgressed(deployment, counts) ? { ...next, lastUpdateTime: formatTime(now) } : next;
}

function hasProgressed({ status }: Deployment, counts: Counts): boolean {
  const old = (all: { replicas?: number; updatedReplicas?: number }): number =>
    (all.replicas ?? 0) - (all.updatedReplicas ?? 0);
  return (
    counts.updatedReplicas > (status?.updatedReplicas ?? 0) ||
    old(counts) < old(status ?? {}) ||
    counts.readyReplicas > (status?.readyReplicas ?? 0) ||
    counts.availableReplicas > (status?.availableReplicas ?? 0)
  );
}

function isLate({ spec }: Deployment, before: DeploymentCondition, now: number): boolean {
  if (before.reason === 'ProgressDeadlineExceeded') return true;
  const deadline = spec?.progressDeadlineSeconds ?? UNLIMITED;
  return deadline !== UNLIMITED && Date.parse(before.lastUpdateTime ?? '') + deadline * 1000 < now;
}

/** What keeps the ReplicaSets from making pods. */
function failures(deployment: Deployment, owned: readonly ReplicaSet[], now: number): DeploymentCondition[] {
  const failed = owned
    .filter(({ spec }) => (spec?.replicas ?? 0) > 0)
    .map(({ status }) => findCondition(status?.conditions, 'ReplicaFailure'))
    .find((condition) => condition?.status === 'True');
  if (failed === undefined) return [];
  const { type, status, reason = '', message = '' } = failed;
  return [keepTimes(deployment, now, { type, status, reason, message })];
}

/** A condition that says what it said before keeps its times: nothing is written because time passes. */
function keepTimes(deployment: Deployment, at: number, condition: DeploymentCondition): DeploymentCondition {
  const now = formatTime(at);
  const before = findCondition(deployment.status?.conditions, condition.type);
  if (before?.status !== condition.status) return { ...condition, lastTransitionTime: now, lastUpdateTime: now };
  const unchanged = before.reason === condition.reason && before.message === condition.message;
  return unchanged
    ? before
    : { ...condition, lastTransitionTime: before.lastTransitionTime ?? now, lastUpdateTime: now };
}
