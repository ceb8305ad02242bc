import {
  type Aggregate,
  type Aggregation,
  clustersWhere,
  isNowhere,
  notPlaced,
  transitionTime,
} from './aggregation.ts';
import { conditionOf, textOf } from './status-fields.ts';

/** The worst phase of any cluster, by kind; one that says none yet is pending, and so is what no cluster has any more. */
const POD_PHASES = ['Failed', 'Pending', 'Running', 'Succeeded'];
const VOLUME_PHASES = ['Failed', 'Pending', 'Available', 'Bound', 'Released'];

/** Ready when it is in every cluster. */
export const aggregatePod: Aggregate = (aggregation) => {
  if (isUntold(aggregation)) return undefined;
  const unready = clustersWhere(aggregation, (status) => conditionOf(status, 'Ready')?.status !== 'True');
  const nowhere = isNowhere(aggregation);
  const status = unready.length === 0 && !nowhere ? 'True' : 'False';
  const lastTransitionTime = transitionTime(aggregation, 'Ready', status);
  const elsewhere = { reason: 'NotReadyEverywhere', message: `not ready in ${unready.join(', ')}` };
  const why = nowhere ? notPlaced(aggregation) : unready.length === 0 ? {} : elsewhere;
  return { phase: worst(aggregation, POD_PHASES), conditions: [{ type: 'Ready', status, ...why, lastTransitionTime }] };
};

export const aggregateVolume: Aggregate = (aggregation) =>
  isUntold(aggregation) ? undefined : { phase: worst(aggregation, VOLUME_PHASES) };

/** Lost if it is in any cluster, else the last phase that is not Bound, else Bound. */
export const aggregateClaim: Aggregate = (aggregation) => {
  if (isUntold(aggregation)) return undefined;
  if (isNowhere(aggregation)) return { phase: 'Pending' };
  const phases = phasesOf(aggregation);
  const phase = phases.includes('Lost') ? 'Lost' : (phases.findLast((each) => each !== 'Bound') ?? 'Bound');
  const bound = aggregation.reports.find(({ status }) => status?.['capacity'] !== undefined)?.status;
  return {
    phase,
    ...(bound ? { capacity: bound['capacity'], accessModes: bound['accessModes'] } : {}),
  };
};

/** What was never placed is left as its API server made it. */
function isUntold(aggregation: Aggregation): boolean {
  return isNowhere(aggregation) && !aggregation.wasPlaced;
}

function worst(aggregation: Aggregation, order: readonly string[]): string {
  const phases = phasesOf(aggregation);
  return order.find((phase) => phases.includes(phase)) ?? 'Pending';
}

function phasesOf({ reports }: Aggregation): string[] {
  return reports.map(({ status }) => textOf(status, 'phase') ?? 'Pending');
}
