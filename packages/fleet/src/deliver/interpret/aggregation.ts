import type { KubeObject } from '@asterism/machinery';
import type { Status } from './status-fields.ts';

/** What one cluster says of a template's object there. */
export interface MemberReport {
  cluster: string;
  /** As it was reflected; undefined while the cluster has said nothing. */
  status: Status | undefined;
  /** The cluster has what the template says now, and the controllers there have seen it. */
  current: boolean;
}

export interface Aggregation {
  template: KubeObject;
  /** One for each cluster that the template is placed in. */
  reports: readonly MemberReport[];
  /** RFC 3339, whole seconds. */
  now: string;
}

/** Makes the template's status of what its clusters report; undefined leaves the template's status as it is. */
export type Aggregate = (aggregation: Aggregation) => Status | undefined;

export function statusesOf({ reports }: Aggregation): (Status | undefined)[] {
  return reports.map(({ status }) => status);
}

/** What the template's status was before. */
export function presentStatus({ template }: Aggregation): Status {
  return (template['status'] ?? {}) as Status;
}

/** It advances to the template's generation when every cluster is current, and not before. */
export function observedGenerationOf(aggregation: Aggregation): { observedGeneration?: number } {
  const { template, reports } = aggregation;
  const generation = template.metadata?.generation;
  if (generation !== undefined && reports.every(({ current }) => current)) return { observedGeneration: generation };
  const before = presentStatus(aggregation)['observedGeneration'];
  return typeof before === 'number' ? { observedGeneration: before } : {};
}

/** `ant, bee`: the clusters whose status satisfies the test. */
export function clustersWhere({ reports }: Aggregation, test: (status: Status | undefined) => boolean): string[] {
  return reports.filter(({ status }) => test(status)).map(({ cluster }) => cluster);
}
