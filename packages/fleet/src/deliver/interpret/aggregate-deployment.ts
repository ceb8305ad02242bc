import {
  type Aggregate,
  type Aggregation,
  clustersWhere,
  observedGenerationOf,
  presentStatus,
  statusesOf,
} from './aggregation.ts';
import { conditionOf, objectsOf, type Status, sumsOf } from './status-fields.ts';

const COUNTERS = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'];

/**
 * Sums, and the two conditions that clients wait for: `Available` holds when it holds in every cluster; `Progressing` fails
 * when it fails in one and says `NewReplicaSetAvailable` when all of them do. So `kubectl rollout status` ends when, and only
 * when, the rollouts of all clusters have.
 */
export const aggregateDeployment: Aggregate = (aggregation) => ({
  ...observedGenerationOf(aggregation),
  ...sumsOf(statusesOf(aggregation), COUNTERS),
  conditions: [availableOf(aggregation), progressingOf(aggregation)].map((condition) => dated(condition, aggregation)),
});

interface NewCondition {
  type: 'Available' | 'Progressing';
  status: 'True' | 'False';
  reason: string;
  message: string;
}

function availableOf(aggregation: Aggregation): NewCondition {
  const short = clustersWhere(aggregation, (status) => conditionOf(status, 'Available')?.status !== 'True');
  if (short.length === 0) {
    const message = `Deployment has minimum availability in ${clusters(aggregation)}.`;
    return { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message };
  }
  const message = `Deployment does not have minimum availability in ${short.join(', ')}.`;
  return { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message };
}

function progressingOf(aggregation: Aggregation): NewCondition {
  const stuck = clustersWhere(aggregation, (status) => conditionOf(status, 'Progressing')?.status === 'False');
  if (stuck.length > 0) {
    const failed = aggregation.reports.find(({ cluster }) => cluster === stuck[0]);
    const { reason = '', message = '' } = conditionOf(failed?.status, 'Progressing') ?? {};
    return { type: 'Progressing', status: 'False', reason, message: `${stuck.join(', ')}: ${message}` };
  }
  const behind = clustersWhere(
    aggregation,
    (status) => conditionOf(status, 'Progressing')?.reason !== 'NewReplicaSetAvailable',
  );
  if (behind.length === 0) {
    const message = `The rollout is complete in ${clusters(aggregation)}.`;
    return { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message };
  }
  const message = `The rollout is under way in ${behind.join(', ')}.`;
  return { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message };
}

function clusters({ reports }: Aggregation): string {
  return reports.length === 1 ? 'the only cluster it is placed in' : `all ${reports.length} clusters it is placed in`;
}

/** The transition keeps its time while the status stays, the update while all of the condition does. */
function dated(condition: NewCondition, aggregation: Aggregation): Status {
  const before = objectsOf(presentStatus(aggregation), 'conditions').find(({ type }) => type === condition.type);
  const sameStatus = before?.['status'] === condition.status;
  const same = sameStatus && before?.['reason'] === condition.reason && before?.['message'] === condition.message;
  return {
    ...condition,
    lastTransitionTime: (sameStatus && before?.['lastTransitionTime']) || aggregation.now,
    lastUpdateTime: (same && before?.['lastUpdateTime']) || aggregation.now,
  };
}
