import type { KubeObject } from '@asterism/machinery';
import { hasFailed } from './has-failed.ts';
import type { Health } from './health.ts';
import { conditionOf, fieldsOf, type Status } from './status-fields.ts';

/** What one cluster says of a template's object there. */
export interface MemberReport {
  cluster: string;
  /** As it was reflected; undefined while the cluster has said nothing. */
  status: Status | undefined;
  /** The generation of the cluster's object, against which `status` is to be read. */
  generation?: number | undefined;
  health?: Health | undefined;
  /** The cluster has what the template says now, and the controllers there have seen it, as far as they say so. */
  current: boolean;
}

export interface Aggregation {
  template: KubeObject;
  /** One for each cluster that the template is placed in. */
  reports: readonly MemberReport[];
  /** RFC 3339, whole seconds. */
  now: string;
  /** A cluster had it when its status was last told: what that says is ours to take back. */
  wasPlaced?: boolean;
}

/** Makes the template's status of what its clusters report; undefined leaves the template's status as it is. */
export type Aggregate = (aggregation: Aggregation) => Status | undefined;

export function statusesOf({ reports }: Aggregation): (Status | undefined)[] {
  return reports.map(({ status }) => status);
}

/** What the template's status was before. */
export function presentStatus({ template }: Aggregation): Status {
  return fieldsOf(template['status']);
}

/** Whether no cluster has it, nor is to have it. */
export function isNowhere({ reports }: Aggregation): boolean {
  return reports.length === 0;
}

/** What a condition says that does not hold for that. */
export function notPlaced({ template }: Aggregation): { reason: string; message: string } {
  const { kind = '', metadata: { namespace, name } = {} } = template;
  const why = `aster why ${kind.toLowerCase()}/${name}${namespace ? ` -n ${namespace}` : ''}`;
  return { reason: 'NotPlaced', message: `${kind} is placed nowhere: \`${why}\` tells why.` };
}

/**
 * It advances to the template's generation when every cluster is current and its controllers say which generation they have seen, and
 * not before: to kubectl it means that what the status says is of what the template says. Placed nowhere, there is none to have seen it,
 * unless nothing is wanted.
 */
export function observedGenerationOf(aggregation: Aggregation): { observedGeneration?: number } {
  const generation = aggregation.template.metadata?.generation;
  if (isNowhere(aggregation) && !wantsNothing(aggregation)) return {};
  const seen = generation !== undefined && isSeenEverywhere(aggregation);
  return seen ? { observedGeneration: generation } : observedBefore(aggregation);
}

/**
 * The same for workloads, of which kubectl counts the sums alone. Where these look as if the rollout were done though a cluster has
 * not begun its own, as with replicas in each of two clusters, the generation is not observed yet. A rollout that got stuck is: kubectl
 * then tells the reason.
 */
export function rolloutGenerationOf(aggregation: Aggregation, sumsLookDone: boolean): { observedGeneration?: number } {
  const isUnderWay = ({ health, status }: MemberReport): boolean => health === 'Unhealthy' && !hasFailed(status);
  const misleading = sumsLookDone && aggregation.reports.some(isUnderWay);
  return misleading ? observedBefore(aggregation) : observedGenerationOf(aggregation);
}

/** Replicas that the template asks for; Kubernetes' default is 1. */
export function wantedReplicas({ template }: Aggregation): number {
  const { replicas } = fieldsOf(template['spec']);
  return typeof replicas === 'number' ? replicas : 1;
}

function wantsNothing({ template }: Aggregation): boolean {
  return fieldsOf(template['spec'])['replicas'] === 0;
}

function isSeenEverywhere({ reports }: Aggregation): boolean {
  return reports.every(({ current, status }) => current && typeof status?.['observedGeneration'] === 'number');
}

function observedBefore(aggregation: Aggregation): { observedGeneration?: number } {
  const before = presentStatus(aggregation)['observedGeneration'];
  return typeof before === 'number' ? { observedGeneration: before } : {};
}

/** `ant, bee`: the clusters whose status satisfies the test. */
export function clustersWhere({ reports }: Aggregation, test: (status: Status | undefined) => boolean): string[] {
  return reports.filter(({ status }) => test(status)).map(({ cluster }) => cluster);
}

/** When a condition took its status: as before while it keeps it. */
export function transitionTime(aggregation: Aggregation, type: string, status: string): string {
  const before = conditionOf(presentStatus(aggregation), type);
  return (before?.status === status && before.lastTransitionTime) || aggregation.now;
}
