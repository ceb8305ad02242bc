import { type Aggregate, observedGenerationOf, statusesOf } from './aggregation.ts';
import { type Status, sumsOf } from './status-fields.ts';

/** Kinds whose status is sums over the clusters. Counters that their schemas require are there even when they are 0. */

export const aggregateStatefulSet: Aggregate = (aggregation) => ({
  ...observedGenerationOf(aggregation),
  ...sumsOf(
    statusesOf(aggregation),
    ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    ['replicas', 'availableReplicas'],
  ),
});

export const aggregateReplicaSet: Aggregate = (aggregation) => ({
  ...observedGenerationOf(aggregation),
  ...sumsOf(
    statusesOf(aggregation),
    ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
    ['replicas'],
  ),
});

const DAEMON_COUNTERS = ['currentNumberScheduled', 'desiredNumberScheduled', 'numberMisscheduled', 'numberReady'];

export const aggregateDaemonSet: Aggregate = (aggregation) => ({
  ...observedGenerationOf(aggregation),
  ...sumsOf(
    statusesOf(aggregation),
    [...DAEMON_COUNTERS, 'numberAvailable', 'numberUnavailable', 'updatedNumberScheduled'],
    DAEMON_COUNTERS,
  ),
});

/** Sums; pods under disruption by `cluster/pod`. */
export const aggregateDisruptionBudget: Aggregate = (aggregation) => {
  const counters = ['currentHealthy', 'desiredHealthy', 'disruptionsAllowed', 'expectedPods'];
  const disrupted = aggregation.reports.flatMap(({ cluster, status }) =>
    Object.entries((status?.['disruptedPods'] ?? {}) as Status).map(([pod, time]) => [`${cluster}/${pod}`, time]),
  );
  return {
    ...observedGenerationOf(aggregation),
    ...sumsOf(statusesOf(aggregation), counters, counters),
    ...(disrupted.length > 0 ? { disruptedPods: Object.fromEntries(disrupted) } : {}),
  };
};

export const aggregateAutoscaler: Aggregate = (aggregation) => ({
  ...observedGenerationOf(aggregation),
  ...sumsOf(statusesOf(aggregation), ['currentReplicas', 'desiredReplicas'], ['currentReplicas', 'desiredReplicas']),
});
