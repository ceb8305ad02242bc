import {
  type Aggregate,
  type Aggregation,
  observedGenerationOf,
  rolloutGenerationOf,
  statusesOf,
  wantedReplicas,
} from './aggregation.ts';
import { numberOf, type Status, sumsOf, textOf } from './status-fields.ts';

/** Kinds whose status is sums over the clusters. Counters that their schemas require are there even when they are 0. */

export const aggregateStatefulSet: Aggregate = (aggregation) => {
  const sums = sumsOf(
    statusesOf(aggregation),
    ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    ['replicas', 'availableReplicas'],
  );
  const wanted = wantedReplicas(aggregation);
  const looksDone = numberOf(sums, 'readyReplicas') >= wanted && numberOf(sums, 'updatedReplicas') >= wanted;
  return { ...rolloutGenerationOf(aggregation, looksDone), ...sums, ...revisionsOf(aggregation) };
};

/**
 * The revisions of the first cluster whose own differ, for as long as there is one: by that `kubectl rollout status` knows that pods
 * are still to be replaced. Two clusters may name the same revision differently.
 */
function revisionsOf(aggregation: Aggregation): Status {
  const pairs = statusesOf(aggregation).flatMap((status) => {
    const currentRevision = textOf(status, 'currentRevision');
    const updateRevision = textOf(status, 'updateRevision');
    return currentRevision && updateRevision ? [{ currentRevision, updateRevision }] : [];
  });
  return pairs.find(({ currentRevision, updateRevision }) => currentRevision !== updateRevision) ?? pairs[0] ?? {};
}

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
