import { type Condition, deepEqual, setCondition } from '@asterism/machinery';
import type { AggregatedStatusItem, ManifestStatus, ResourceBinding, TargetCluster, Work } from '../api/index.ts';
import type { Binding } from '../place/binding-client.ts';
import type { MemberReport } from './interpret/aggregation.ts';
import { numberOf } from './interpret/status-fields.ts';
import type { Rendered } from './render-manifest.ts';
import { byRule, overrideFaults } from './unapplied-overrides.ts';

export type BindingStatus = NonNullable<ResourceBinding['status']>;

/** One target cluster of a binding: what it should have, and the Work that says so. */
export interface Target {
  cluster: string;
  /** Undefined where the cluster is not there. */
  rendered: Rendered | undefined;
  work: Work | undefined;
  /** The Work says what `rendered` does. */
  upToDate: boolean;
  /** Why the hub did not take the Work as it should be. */
  refusal: string | undefined;
}

/** What keeps the Work from saying what it should. */
function faultsOf({ rendered, refusal }: Target): string[] {
  const refused = refusal === undefined ? [] : [withOverrides(refusal, rendered)];
  return [...overrideFaults(rendered?.unapplied ?? []), ...refused];
}

/** A refusal, and whose overrides may have brought it about. */
function withOverrides(refusal: string, rendered: Rendered | undefined): string {
  const { policies = [] } = rendered ?? {};
  return policies.length === 0
    ? refusal
    : `${refusal} (changed for this cluster by override policy ${policies.join(', ')})`;
}

/** Its executor has not answered yet; so what the Work's status says may be of yesterday. */
export function isPending(target: Target): boolean {
  const { rendered, work, upToDate } = target;
  if (!rendered || faultsOf(target).length > 0) return false;
  return !work || !upToDate || numberOf(work.status, 'observedGeneration') < (work.metadata.generation ?? 0);
}

/** What the cluster reports of the template's object, for the aggregation into the template's status. */
export function memberReport(target: Target): MemberReport {
  const manifest = manifestOf(target);
  const status = manifest?.status;
  const observed = status?.['observedGeneration'];
  const seen = typeof observed !== 'number' || observed >= (manifest?.generation ?? 0);
  const applied = manifest?.applied === true && !isPending(target) && faultsOf(target).length === 0;
  const { generation, health } = manifest ?? {};
  return { cluster: target.cluster, status, generation, health, current: applied && seen };
}

/**
 * The status of a binding. `observedGeneration` advances when every cluster has answered to what the binding says now;
 * until then conditions speak of before.
 */
export function bindingStatus(binding: Binding, targets: readonly Target[], now: string): BindingStatus {
  const before = binding.status;
  const pending = targets.filter(isPending).map(({ cluster }) => cluster);
  const observedGeneration = pending.length === 0 ? binding.metadata.generation : before?.observedGeneration;
  const aggregatedStatus = targets.map(aggregatedItem);
  const unapplied = targets.map(({ cluster, rendered }) => ({ cluster, unapplied: rendered?.unapplied ?? [] }));
  const unappliedOverrides = byRule(unapplied);
  const withScheduled = setCondition(before?.conditions, scheduledCondition(binding), now);
  const conditions = setCondition(withScheduled, appliedCondition(binding, aggregatedStatus, pending), now);
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: conditions as NonNullable<BindingStatus['conditions']>,
    placed: (binding.spec.clusters ?? []).map(shareText).join(', '),
    ...(aggregatedStatus.length > 0 ? { aggregatedStatus } : {}),
    ...(unappliedOverrides.length > 0 ? { unappliedOverrides } : {}),
  };
}

/** Whether the status needs no write; a status that is absent is equal to an empty one. */
export function sameStatus(a: unknown, b: unknown): boolean {
  return deepEqual(a ?? {}, b ?? {});
}

function shareText({ name, replicas }: TargetCluster): string {
  return replicas === undefined ? name : `${name} ${replicas}`;
}

type Judgement = Omit<Condition, 'lastTransitionTime'>;

function scheduledCondition({ spec }: Binding): Judgement {
  const { unschedulable, clusters = [] } = spec;
  if (unschedulable) return { type: 'Scheduled', status: 'False', ...unschedulable };
  const message = clusters.length === 1 ? 'placed in 1 cluster' : `placed in ${clusters.length} clusters`;
  return { type: 'Scheduled', status: 'True', reason: 'Success', message };
}

function appliedCondition(
  { spec }: Binding,
  items: readonly AggregatedStatusItem[],
  pending: readonly string[],
): Judgement {
  const failed = items.filter(({ applied }) => !applied).map(({ clusterName }) => clusterName);
  const type = 'FullyApplied';
  if (failed.length > 0) {
    const message = `applied in ${items.length - failed.length} of ${items.length} clusters; not in ${failed.join(', ')}`;
    return { type, status: 'False', reason: 'NotApplied', message };
  }
  if (pending.length > 0) {
    return {
      type,
      status: 'False',
      reason: 'Pending',
      message: `waiting for ${pending.join(', ')} to apply the last change`,
    };
  }
  if (items.length === 0 && spec.unschedulable)
    return { type, status: 'False', reason: 'NotPlaced', message: 'placed nowhere' };
  return { type, status: 'True', reason: 'Applied', message: `applied in ${items.length} of ${items.length} clusters` };
}

function aggregatedItem(target: Target): AggregatedStatusItem {
  const { cluster, rendered } = target;
  const manifest = manifestOf(target);
  const message = messageOf(target, manifest);
  const faulty = !rendered || faultsOf(target).length > 0;
  return {
    clusterName: cluster,
    applied: !faulty && manifest?.applied === true,
    ...(message ? { appliedMessage: message } : {}),
    health: manifest?.health ?? 'Unknown',
    ...(manifest?.status ? { status: { ...manifest.status } } : {}),
  };
}

function messageOf(target: Target, manifest: ManifestStatus | undefined): string {
  const { cluster, rendered, work } = target;
  if (!rendered) return `there is no cluster ${cluster}`;
  const faults = faultsOf(target);
  if (faults.length > 0) return faults.join('; ');
  if (!manifest) return work ? 'the cluster has not applied it yet' : 'not handed to the cluster yet';
  if (manifest.applied || !manifest.message) return manifest.message ?? '';
  return withOverrides(manifest.message, rendered);
}

function manifestOf({ work }: Target): ManifestStatus | undefined {
  const [manifest] = work?.spec.manifests ?? [];
  return work?.status?.manifestStatuses?.find(
    ({ apiVersion, kind, namespace, name }) =>
      apiVersion === manifest?.apiVersion &&
      kind === manifest.kind &&
      name === manifest.metadata?.name &&
      (namespace ?? '') === (manifest.metadata?.namespace ?? ''),
  );
}
