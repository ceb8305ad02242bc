import { byName } from '../../place/tie-break.ts';
import { type Aggregate, type Aggregation, clustersWhere, presentStatus, statusesOf } from './aggregation.ts';
import { conditionOf, objectsOf, type Status, sumsOf, textOf } from './status-fields.ts';

/**
 * Sums. Failed as soon as it failed in one cluster, which is named; complete when it is in all of them. A finished Job is
 * never changed again: its clusters may clean up.
 */
export const aggregateJob: Aggregate = (aggregation) => {
  const before = presentStatus(aggregation);
  if (isFinished(before) || aggregation.reports.length === 0) return undefined;
  const statuses = statusesOf(aggregation);
  const started = earliest(statuses.map((status) => textOf(status, 'startTime')));
  const outcome = outcomeOf(aggregation);
  const completed = latest(statuses.map((status) => textOf(status, 'completionTime')));
  return {
    ...sumsOf(statuses, ['active', 'succeeded', 'failed', 'ready']),
    ...(started ? { startTime: started } : {}),
    ...(outcome.complete && completed ? { completionTime: completed } : {}),
    ...(outcome.conditions.length > 0 ? { conditions: outcome.conditions } : {}),
  };
};

function isFinished(status: Status): boolean {
  return ['Failed', 'Complete'].some((type) => conditionOf(status, type)?.status === 'True');
}

function outcomeOf(aggregation: Aggregation): { complete: boolean; conditions: Status[] } {
  const failed = clustersWhere(aggregation, (status) => conditionOf(status, 'Failed')?.status === 'True');
  const { now, reports } = aggregation;
  if (failed.length > 0) {
    const message = `Job failed in ${failed.join(', ')}.`;
    // Kubernetes announces a failure by FailureTarget before, and validates that it did.
    return { complete: false, conditions: conditions(['FailureTarget', 'Failed'], 'JobFailed', message, now) };
  }
  const complete = clustersWhere(aggregation, (status) => conditionOf(status, 'Complete')?.status === 'True');
  if (complete.length < reports.length) return { complete: false, conditions: [] };
  const types = ['SuccessCriteriaMet', 'Complete'];
  return {
    complete: true,
    conditions: conditions(types, 'CompletionsReached', 'Job is complete in all clusters.', now),
  };
}

function conditions(types: readonly string[], reason: string, message: string, now: string): Status[] {
  return types.map((type) => ({ type, status: 'True', reason, message, lastProbeTime: now, lastTransitionTime: now }));
}

/** The running Jobs of all clusters, and the latest times. */
export const aggregateCronJob: Aggregate = (aggregation) => {
  const statuses = statusesOf(aggregation);
  const active = statuses.flatMap((status) => objectsOf(status, 'active'));
  const scheduled = latest(statuses.map((status) => textOf(status, 'lastScheduleTime')));
  const successful = latest(statuses.map((status) => textOf(status, 'lastSuccessfulTime')));
  return {
    ...(active.length > 0 ? { active } : {}),
    ...(scheduled ? { lastScheduleTime: scheduled } : {}),
    ...(successful ? { lastSuccessfulTime: successful } : {}),
  };
};

/** Known only when all have one. RFC 3339 in UTC sorts as text. */
function earliest(times: readonly (string | undefined)[]): string | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length < times.length ? undefined : known.toSorted(byName)[0];
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times
    .filter((time) => time !== undefined)
    .toSorted(byName)
    .at(-1);
}
