import { byName } from '../../template/tie-break.ts';
import {
  type Aggregate,
  type Aggregation,
  clustersWhere,
  isNowhere,
  presentStatus,
  statusesOf,
} from './aggregation.ts';
import { conditionOf, numberOf, objectsOf, type Status, sumsOf, textOf } from './status-fields.ts';

/**
 * Sums. Failed as soon as it failed in one cluster, which is named; complete when it is in all of them. A finished Job is
 * never changed again: its clusters may clean up. Of one that no cluster has any more nothing is active.
 *
 * Kubernetes holds the status of a Job to rules, also where another than its own controller writes it: what has succeeded or failed is
 * never less than before, a start stays, and a finished Job has a start and nothing active.
 */
export const aggregateJob: Aggregate = (aggregation) => {
  const before = presentStatus(aggregation);
  if (isFinished(before)) return undefined;
  const statuses = statusesOf(aggregation);
  const { finished, complete, conditions } = outcomeOf(aggregation);
  const started = textOf(before, 'startTime') ?? startOf(statuses, finished, aggregation.now);
  const completed = latest(statuses.map((status) => textOf(status, 'completionTime')));
  return {
    ...(finished ? {} : sumsOf(statuses, ['active', 'ready'])),
    ...neverLess(before, sumsOf(statuses, ['succeeded', 'failed'])),
    ...(started ? { startTime: started } : {}),
    ...(complete && completed ? { completionTime: completed } : {}),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
};

/** The earliest, once every cluster has one; of a Job that is finished, the earliest there is. */
function startOf(statuses: readonly (Status | undefined)[], finished: boolean, now: string): string | undefined {
  const times = statuses.map((status) => textOf(status, 'startTime'));
  const known = times.filter((time) => time !== undefined);
  if (!finished) return known.length < times.length ? undefined : earliest(known);
  return earliest(known) ?? now;
}

/** A cluster that is left takes its count along. */
function neverLess(before: Status, sums: Record<string, number>): Record<string, number> {
  const counters = ['succeeded', 'failed'].map((field) => [field, Math.max(numberOf(before, field), sums[field] ?? 0)]);
  return Object.fromEntries(counters.filter(([, count]) => count !== 0));
}

function isFinished(status: Status): boolean {
  return ['Failed', 'Complete'].some((type) => conditionOf(status, type)?.status === 'True');
}

interface Outcome {
  finished: boolean;
  complete: boolean;
  conditions: Status[];
}

function outcomeOf(aggregation: Aggregation): Outcome {
  const failed = clustersWhere(aggregation, (status) => conditionOf(status, 'Failed')?.status === 'True');
  const { now, reports } = aggregation;
  if (failed.length > 0) {
    const message = `Job failed in ${failed.join(', ')}.`;
    // Kubernetes announces a failure by FailureTarget before, and validates that it did.
    const announced = conditions(['FailureTarget', 'Failed'], 'JobFailed', message, now);
    return { finished: true, complete: false, conditions: announced };
  }
  const complete = clustersWhere(aggregation, (status) => conditionOf(status, 'Complete')?.status === 'True');
  if (complete.length < reports.length || isNowhere(aggregation))
    return { finished: false, complete: false, conditions: [] };
  const message = 'Job is complete in all clusters.';
  const reached = conditions(['SuccessCriteriaMet', 'Complete'], 'CompletionsReached', message, now);
  return { finished: true, complete: true, conditions: reached };
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

/** RFC 3339 in UTC sorts as text. */
function earliest(times: readonly string[]): string | undefined {
  return times.toSorted(byName)[0];
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times
    .filter((time) => time !== undefined)
    .toSorted(byName)
    .at(-1);
}
