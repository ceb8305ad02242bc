import {
  type Aggregate,
  type Aggregation,
  clustersWhere,
  isNowhere,
  notPlaced,
  presentStatus,
  rolloutGenerationOf,
  statusesOf,
  transitionTime,
  wantedReplicas,
} from './aggregation.ts';
import { conditionOf, numberOf, objectsOf, type Status, sumsOf } from './status-fields.ts';

const CONDITIONS = ['Available', 'Progressing'] as const;
const COUNTERS = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'];

/**
 * Sums, and the two conditions that clients wait for: `Available` holds when it holds in every cluster; `Progressing` fails
 * when it fails in one and says `NewReplicaSetAvailable` when all of them do. So `kubectl rollout status` ends when, and only
 * when, the rollouts of all clusters have. Placed nowhere, neither holds while replicas are wanted.
 */
export const aggregateDeployment: Aggregate = (aggregation) => {
  const sums = sumsOf(statusesOf(aggregation), COUNTERS);
  const missing = isNowhere(aggregation) && wantedReplicas(aggregation) > 0;
  const conditions: NewCondition[] = missing
    ? CONDITIONS.map((type) => ({ type, status: 'False', ...notPlaced(aggregation) }))
    : [availableOf(aggregation), progressingOf(aggregation), ...replicaFailureOf(aggregation)];
  return {
    ...rolloutGenerationOf(aggregation, looksDone(aggregation, sums)),
    ...sums,
    conditions: conditions.map((condition) => dated(condition, aggregation)),
  };
};

/** As `kubectl rollout status` reads it: enough are new, none is old, and all of them are available. */
function looksDone(aggregation: Aggregation, sums: Status): boolean {
  const updated = numberOf(sums, 'updatedReplicas');
  const enough = updated >= wantedReplicas(aggregation) && numberOf(sums, 'replicas') <= updated;
  return enough && numberOf(sums, 'availableReplicas') >= updated;
}

interface NewCondition {
  type: 'Available' | 'Progressing' | 'ReplicaFailure';
  status: 'True' | 'False';
  reason: string;
  message: string;
}

function availableOf(aggregation: Aggregation): NewCondition {
  const short = clustersWhere(aggregation, (status) => conditionOf(status, 'Available')?.status !== 'True');
  if (short.length === 0) {
    const message = `Deployment has minimum availability${where(aggregation)}.`;
    return { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message };
  }
  const message = `Deployment does not have minimum availability in ${short.join(', ')}.`;
  return { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message };
}

function progressingOf(aggregation: Aggregation): NewCondition {
  const stuck = clustersWhere(aggregation, (status) => conditionOf(status, 'Progressing')?.status === 'False');
  if (stuck.length > 0) {
    return { type: 'Progressing', status: 'False', ...wordsOf('Progressing', stuck, aggregation) };
  }
  const behind = clustersWhere(
    aggregation,
    (status) => conditionOf(status, 'Progressing')?.reason !== 'NewReplicaSetAvailable',
  );
  if (behind.length === 0) {
    const message = `The rollout is complete${where(aggregation)}.`;
    return { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message };
  }
  const message = `The rollout is under way in ${behind.join(', ')}.`;
  return { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message };
}

/** There while pods cannot be made in a cluster, as by its quota. */
function replicaFailureOf(aggregation: Aggregation): NewCondition[] {
  const failing = clustersWhere(aggregation, (status) => conditionOf(status, 'ReplicaFailure')?.status === 'True');
  if (failing.length === 0) return [];
  return [{ type: 'ReplicaFailure', status: 'True', ...wordsOf('ReplicaFailure', failing, aggregation) }];
}

/** What the first of the clusters says of its condition, under the names of all of them. */
function wordsOf(type: string, clusterNames: readonly string[], { reports }: Aggregation) {
  const first = reports.find(({ cluster }) => cluster === clusterNames[0]);
  const { reason = '', message = '' } = conditionOf(first?.status, type) ?? {};
  return { reason, message: `${clusterNames.join(', ')}: ${message}` };
}

function where({ reports }: Aggregation): string {
  if (reports.length === 0) return ': no replicas are wanted';
  return reports.length === 1
    ? ' in the only cluster it is placed in'
    : ` in all ${reports.length} clusters it is placed in`;
}

/** The transition keeps its time while the status stays, the update while all of the condition does. */
function dated(condition: NewCondition, aggregation: Aggregation): Status {
  const before = objectsOf(presentStatus(aggregation), 'conditions').find(({ type }) => type === condition.type);
  const { status, reason, message } = condition;
  const same = before?.['status'] === status && before['reason'] === reason && before['message'] === message;
  return {
    ...condition,
    lastTransitionTime: transitionTime(aggregation, condition.type, condition.status),
    lastUpdateTime: (same && before?.['lastUpdateTime']) || aggregation.now,
  };
}
