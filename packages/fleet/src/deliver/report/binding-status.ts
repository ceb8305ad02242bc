import { type Condition, deepEqual, setCondition } from '@asterism/machinery';
import type { AggregatedStatusItem, ManifestStatus, ResourceBinding, TargetCluster, Work } from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import type { MemberReport } from '../interpret/aggregation.ts';
import { numberOf } from '../interpret/status-fields.ts';
import { byRule, overrideFaults } from '../override/unapplied-overrides.ts';
import type { Rendered } from '../render/render-manifest.ts';
import { DISPATCHING_SUSPENDED, SUSPEND_DISPATCHING } from '../works/suspended.ts';
import { counted } from '../../place/counted.ts';
import { type JudgedReport, judgeReport } from './judge-report.ts';

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
  /** Nothing is written to the cluster for now. */
  suspended?: boolean;
  /** What the hub takes of what the cluster reports, if that was judged before. */
  report?: JudgedReport | undefined;
}

/** What a binding and its clusters come to. */
export interface Standings {
  targets: readonly Target[];
  /** Clusters that are chosen no more, and keep what they have because dispatching to them is suspended. */
  retained?: readonly string[];
}

/** What keeps the Work from saying what it should. */
function faultsOf({ rendered, refusal }: Target): string[] {
  const refused = refusal === undefined ? [] : [withOverrides(refusal, rendered)];
  return [...overrideFaults(rendered?.unapplied ?? []), ...refused];
}

/** What keeps the cluster from having what its Work says, so far as the hub knows. */
function hindrancesOf(target: Target): string[] {
  return [...faultsOf(target), ...(target.suspended ? [DISPATCHING_SUSPENDED] : [])];
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
  const { rendered, work, upToDate, suspended } = target;
  if (!rendered || faultsOf(target).length > 0) return false;
  if (!work || !upToDate) return true;
  return !suspended && numberOf(work.status, 'observedGeneration') < (work.metadata.generation ?? 0);
}

/** What the cluster reports of the template's object, for the aggregation into the template's status. */
export function memberReport(target: Target): MemberReport {
  const manifest = manifestOf(target);
  const { status } = reportOf(target) ?? {};
  const observed = status?.['observedGeneration'];
  const seen = typeof observed !== 'number' || observed >= (manifest?.generation ?? 0);
  const applied = manifest?.applied === true && !isPending(target) && hindrancesOf(target).length === 0;
  const { generation, health } = manifest ?? {};
  return { cluster: target.cluster, status, generation, health, current: applied && seen };
}

/**
 * The status of a binding. `observedGeneration` advances when every cluster has answered to what the binding says now;
 * until then conditions speak of before.
 */
export function bindingStatus(binding: Binding, standings: Standings, now: string): BindingStatus {
  const { targets } = standings;
  const before = binding.status;
  const pending = targets.filter(isPending).map(({ cluster }) => cluster);
  const observedGeneration = pending.length === 0 ? binding.metadata.generation : before?.observedGeneration;
  const aggregatedStatus = targets.map(aggregatedItem);
  const unapplied = targets.map(({ cluster, rendered }) => ({ cluster, unapplied: rendered?.unapplied ?? [] }));
  const unappliedOverrides = byRule(unapplied);
  const withScheduled = setCondition(before?.conditions, scheduledCondition(binding), now);
  const conditions = setCondition(withScheduled, appliedCondition(binding, standings, aggregatedStatus), now);
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
  { targets, retained = [] }: Standings,
  items: readonly AggregatedStatusItem[],
): Judgement {
  const type = 'FullyApplied';
  const suspended = new Set(targets.filter((target) => target.suspended).map(({ cluster }) => cluster));
  const failed = items.filter(({ applied }) => !applied).map(({ clusterName }) => clusterName);
  const refused = failed.filter((cluster) => !suspended.has(cluster));
  const pending = targets.filter(isPending).map(({ cluster }) => cluster);
  const count = `applied in ${items.length - failed.length} of ${items.length} clusters`;
  const held = suspended.size > 0 ? `; dispatching is suspended to ${[...suspended].join(', ')}` : '';
  const kept =
    retained.length > 0 ? `; not removed from ${retainedText(spec, retained)}: dispatching is suspended there` : '';
  const isNot = (reason: string, message: string): Judgement => ({ type, status: 'False', reason, message });
  if (refused.length > 0) return isNot('NotApplied', `${count}; not in ${refused.join(', ')}${held}${kept}`);
  if (pending.length > 0) return isNot('Pending', `waiting for ${pending.join(', ')} to apply the last change`);
  if (held || kept) return isNot(SUSPEND_DISPATCHING, `${count}${held}${kept}`);
  if (items.length === 0 && spec.unschedulable) return isNot('NotPlaced', 'placed nowhere');
  return { type, status: 'True', reason: 'Applied', message: count };
}

/** The names of clusters that the binding must not name are only counted. */
function retainedText({ hiddenClusters, decisions = [] }: Binding['spec'], retained: readonly string[]): string {
  const shown = new Set(decisions.map(({ cluster }) => cluster));
  const named = hiddenClusters ? retained.filter((cluster) => shown.has(cluster)) : retained;
  const others = retained.length - named.length;
  return [...named, ...(others > 0 ? [`${counted(others, 'cluster')} that the policy must not place in`] : [])].join(
    ', ',
  );
}

function aggregatedItem(target: Target): AggregatedStatusItem {
  const { cluster, rendered } = target;
  const manifest = manifestOf(target);
  const { status } = reportOf(target) ?? {};
  const message = messageOf(target, manifest);
  const faulty = !rendered || hindrancesOf(target).length > 0;
  return {
    clusterName: cluster,
    applied: !faulty && manifest?.applied === true,
    ...(message ? { appliedMessage: message } : {}),
    health: manifest?.health ?? 'Unknown',
    ...(status ? { status: { ...status } } : {}),
  };
}

function messageOf(target: Target, manifest: ManifestStatus | undefined): string {
  const { cluster, rendered, work } = target;
  if (!rendered) return `there is no cluster ${cluster}`;
  const hindrances = hindrancesOf(target);
  if (hindrances.length > 0) return hindrances.join('; ');
  if (!manifest) return work ? 'the cluster has not applied it yet' : 'not handed to the cluster yet';
  const { message = '', fault } = reportOf(target) ?? {};
  const remark =
    fault === undefined ? '' : `the hub does not take all of the status that the cluster reports: ${fault}`;
  const words = manifest.applied || message === '' ? message : withOverrides(message, rendered);
  return [words, remark].filter((text) => text !== '').join('; ');
}

function reportOf(target: Target): JudgedReport | undefined {
  const manifest = manifestOf(target);
  return target.report ?? (manifest && judgeReport(manifest));
}

/** What the Work's status says of the template's object. */
export function manifestOf({ work }: Pick<Target, 'work'>): ManifestStatus | undefined {
  const [manifest] = work?.spec.manifests ?? [];
  return work?.status?.manifestStatuses?.find(
    ({ apiVersion, kind, namespace, name }) =>
      apiVersion === manifest?.apiVersion &&
      kind === manifest.kind &&
      name === manifest.metadata?.name &&
      (namespace ?? '') === (manifest.metadata?.namespace ?? ''),
  );
}
