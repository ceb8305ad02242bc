import {
  type Condition,
  formatTime,
  type Pod,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  setCondition,
} from '@asterism/machinery';
import { isReady } from './pod-state.ts';
import { podsOf } from './rollout.ts';

/** How many pods the controllers of a pod want in all; undefined where nobody can say. */
export type ExpectedScale = (pods: readonly Pod[]) => number | { failure: string };

/** How long an eviction that was allowed is waited for. */
const DISRUPTION_MS = 120_000;

/**
 * How many pods a budget lets go now. The server writes each eviction into `disruptedPods`: such a pod counts as gone from then
 * on, until it is gone, or for two minutes.
 */
export function disruptionBudgetStatus(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  expectedScale: ExpectedScale,
  now: number,
): PodDisruptionBudgetStatus {
  const { spec, status, metadata } = budget;
  const generation = metadata?.generation ?? 0;
  const scale = typeof spec?.minAvailable === 'number' ? pods.length : expectedScale(pods);
  if (typeof scale !== 'number') {
    const conditions = allowed(budget, { status: 'False', reason: 'SyncFailed', message: scale.failure }, now);
    return { ...zeros(), ...status, disruptionsAllowed: 0, observedGeneration: generation, conditions };
  }
  const disruptedPods = stillDisrupted(budget, pods, now);
  const currentHealthy = pods.filter(
    (pod) =>
      isReady(pod) &&
      pod.metadata?.deletionTimestamp === undefined &&
      !Object.hasOwn(disruptedPods, pod.metadata?.name ?? ''),
  ).length;
  const desiredHealthy =
    spec?.maxUnavailable === undefined
      ? podsOf(spec?.minAvailable ?? 1, scale, 'up')
      : Math.max(0, scale - podsOf(spec.maxUnavailable, scale, 'up'));
  const disruptionsAllowed = scale > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const conditions = allowed(
    budget,
    disruptionsAllowed > 0
      ? { status: 'True', reason: 'SufficientPods', message: '' }
      : { status: 'False', reason: 'InsufficientPods', message: '' },
    now,
  );
  return {
    ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
    conditions,
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed,
    expectedPods: scale,
    observedGeneration: generation,
  };
}

function zeros(): PodDisruptionBudgetStatus {
  return { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
}

function allowed(
  { metadata, status }: PodDisruptionBudget,
  said: Pick<Condition, 'status' | 'reason' | 'message'>,
  now: number,
): Condition[] {
  const observedGeneration = metadata?.generation ?? 0;
  return setCondition(status?.conditions, { type: 'DisruptionAllowed', observedGeneration, ...said }, formatTime(now));
}

function stillDisrupted({ status }: PodDisruptionBudget, pods: readonly Pod[], now: number): Record<string, string> {
  const standing = new Set(
    pods.filter(({ metadata }) => metadata?.deletionTimestamp === undefined).map(({ metadata }) => metadata?.name),
  );
  const entries = Object.entries(status?.disruptedPods ?? {});
  return Object.fromEntries(entries.filter(([name, at]) => standing.has(name) && Date.parse(at) + DISRUPTION_MS > now));
}
