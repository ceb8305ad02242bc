import { deepEqual, type KubeObject } from '@asterism/machinery';
import type { Cluster, Decision, ObjectReference, TargetCluster } from '../api/index.ts';
import type { Binding } from '../template/binding-client.ts';
import { suspensionOfParents } from '../template/dispatch-suspension.ts';
import type { KnownClusters } from './known-clusters.ts';
import { recordedDecisions, resultStands, standingDecisions } from './keep-decisions.ts';
import type { Policy } from './match-policy.ts';
import { missingOverrides, overridesAwaited } from './missing-overrides.ts';
import { isSchedulingSuspended, type TermsInForce, termsInForce } from './policy-terms.ts';
import { type Grounds, limitsOf } from './rights/grounds.ts';
import { type HiddenClusters, hideClusters, recordHidden } from './rights/hide-clusters.ts';
import { whyNotPermitted } from './rights/permit-filter.ts';
import type { Unplaceable } from './rights/placing-rights.ts';
import { type Schedule, schedule, type ScheduleInput, unchanged, type Unschedulable } from './schedule.ts';
import { templateKeyOf } from '../template/template-key.ts';
import { byName } from '../template/tie-break.ts';
import { type Workload, workloadOf } from '../template/workload.ts';

type BindingSpec = Binding['spec'];

const REQUIRED = 'RequiredBy';

export interface PlaceInput {
  template: KubeObject;
  /** The policy that places the template by itself. */
  policy: Policy | undefined;
  /** Bindings of templates that need this one where they are. */
  parents: readonly Binding[];
  clusters: readonly Cluster[];
  /** What the template's binding says now. */
  last: BindingSpec | undefined;
  /** What is known of the clusters from decisions before. */
  known?: KnownClusters | undefined;
  /** What the rights of the policy's author allow; default: everything. */
  grounds?: Grounds | undefined;
  /** The clusters that the binding must not name if no policy places the template by itself. */
  unplaceable?: Unplaceable | undefined;
  /** Whether there is an override policy, by namespace and name; default: none that a policy depends on is missing. */
  isOverrideThere?: ((key: string) => boolean) | undefined;
}

/**
 * The whole spec of a template's binding. With the same input twice it says the same, so there is nothing to write; a result that
 * stands is kept (see {@link resultStands}).
 */
export function placeTemplate(input: PlaceInput): BindingSpec {
  const { template, policy, parents, last } = input;
  const unplaceable = policy ? input.grounds?.unplaceable : input.unplaceable;
  const { shown, hidden } = hideClusters(input.clusters, unplaceable);
  const resource = { ...templateKeyOf(template), ...(template.metadata?.uid ? { uid: template.metadata.uid } : {}) };
  const requiredBy = parents.map(({ spec }) => spec.resource).toSorted((a, b) => byName(keyOf(a), keyOf(b)));
  const workload = workloadOf(template);
  const inForce = policy && termsInForce(policy, template, last);
  const placed =
    policy && inForce
      ? placeByPolicy({ ...input, clusters: shown, hidden, policy, workload }, inForce)
      : nowhere({ ...input, clusters: shown });
  const followed = follow(placed, input);
  return {
    resource,
    ...inForce?.terms,
    ...(policy && input.grounds ? recordOf(input.grounds) : {}),
    ...(requiredBy.length > 0 ? { requiredBy, ...(policy ? {} : strictestOf(parents)) } : {}),
    ...workloadPart(workload),
    ...followed,
    ...(sameRefusal(last, followed, workload) ? { unschedulable: last.unschedulable } : {}),
    decisions: recordedDecisions(isSameOutcome(last, followed) ? last?.decisions : undefined, followed.decisions),
    ...hiddenPart(hidden, input.clusters.length, followed),
  };
}

type PolicyInput = PlaceInput & {
  policy: Policy;
  workload: Workload | undefined;
  hidden: HiddenClusters | undefined;
};

function placeByPolicy(input: PolicyInput, { terms, awaited }: TermsInForce): Schedule {
  const { template, policy, workload, clusters, hidden, last, known, grounds, isOverrideThere = () => true } = input;
  const { apiVersion, kind } = templateKeyOf(template);
  const { affinityName } = last ?? {};
  const limits = limitsOf(template, grounds);
  const refused = new Set(
    clusters.filter((each) => whyNotPermitted(each, limits)).map(({ metadata }) => metadata.name),
  );
  const scheduleInput: ScheduleInput = {
    template: { apiVersion, kind, uid: template.metadata?.uid },
    workload,
    placement: terms.placement ?? {},
    limits,
    clusters,
    hidden,
    previous: last ? ownClusters(last).filter(({ name }) => !refused.has(name)) : [],
    affinityName,
    known,
  };
  const group = affinityName === undefined ? {} : { affinityName };
  if (grounds?.unread !== undefined) {
    return unchanged({ ...scheduleInput, previous: [] }, { reason: 'NotPermitted', message: grounds.unread });
  }
  if (awaited) return { ...unchanged(scheduleInput, AWAITS_TEMPLATE), ...group };
  const missing = missingOverrides(policy, isOverrideThere);
  if (missing.length > 0) {
    const message = overridesAwaited(policy, missing);
    return { ...unchanged(scheduleInput, { reason: 'AwaitsOverrides', message }), ...group };
  }
  if (isSchedulingSuspended(policy, last)) return { ...unchanged(scheduleInput, SUSPENDED), ...group };
  if (!last || !resultStands(last, scheduleInput)) return schedule(scheduleInput);
  return { clusters: last.clusters ?? [], decisions: standingDecisions(last, scheduleInput), ...group };
}

const AWAITS_TEMPLATE: Unschedulable = {
  reason: 'AwaitsTemplate',
  message: 'the policy is Lazy and younger than the template: it takes effect when the template changes',
};

const SUSPENDED: Unschedulable = {
  reason: 'SchedulingSuspended',
  message: 'scheduling is suspended: nothing is decided until it is released',
};

/** A cluster that is needed by what the template follows is shown, and not counted. */
function hiddenPart(hidden: HiddenClusters | undefined, all: number, { decisions }: Schedule): Partial<BindingSpec> {
  const count = all - decisions.length;
  return hidden && count > 0 ? { hiddenClusters: recordHidden({ ...hidden, count }, decisions.length) } : {};
}

function recordOf({ authority, withheld }: Grounds): Pick<BindingSpec, 'authority' | 'withheld'> {
  return { ...(authority === undefined ? {} : { authority }), ...(withheld.length > 0 ? { withheld } : {}) };
}

/** Whether a refusal differs from the last in figures of room alone, which every heartbeat changes. */
function sameRefusal(
  last: BindingSpec | undefined,
  { unschedulable }: Schedule,
  workload: Workload | undefined,
): last is BindingSpec & Required<Pick<BindingSpec, 'unschedulable'>> {
  const before = last?.unschedulable;
  if (!before || !unschedulable || last.replicas !== workload?.replicas) return false;
  if (unschedulable.reason === 'AwaitsOverrides') return before.message === unschedulable.message; // figures may be of names
  const withoutFigures = (message: string) => message.replaceAll(/\d+/g, '#');
  return (
    before.reason === unschedulable.reason && withoutFigures(before.message) === withoutFigures(unschedulable.message)
  );
}

function isSameOutcome(last: BindingSpec | undefined, { clusters, unschedulable }: Schedule): boolean {
  return deepEqual(last?.clusters, clusters) && last?.unschedulable?.reason === unschedulable?.reason;
}

/** The result of the policy alone, without the clusters that parents added to it. */
function ownClusters({ clusters = [], decisions = [] }: BindingSpec): TargetCluster[] {
  const added = new Set(decisions.filter(({ reason }) => reason === REQUIRED).map(({ cluster }) => cluster));
  return clusters.filter(({ name }) => !added.has(name));
}

/** What only follows is as careful as the most careful of what it follows. */
function strictestOf(parents: readonly Binding[]): Partial<BindingSpec> {
  const overwrite = parents.every(({ spec }) => spec.conflictResolution === 'Overwrite');
  const preserve = parents.some(({ spec }) => spec.preserveResourcesOnDeletion);
  return {
    ...(overwrite ? { conflictResolution: 'Overwrite' as const } : {}),
    ...(preserve ? { preserveResourcesOnDeletion: true } : {}),
    ...suspensionOfParents(parents),
  };
}

function workloadPart(workload: Workload | undefined): Partial<BindingSpec> {
  if (!workload) return {};
  const { replicas, requirements } = workload;
  return { replicas, ...(Object.keys(requirements).length > 0 ? { replicaRequirements: { ...requirements } } : {}) };
}

/** Adds the clusters of the parents. They take no share of what is divided: only a whole object follows. */
function follow(placed: Schedule, { parents, clusters }: PlaceInput): Schedule {
  const needed = new Map<string, string[]>();
  for (const { spec } of parents) {
    for (const { name } of spec.clusters ?? []) {
      needed.set(name, [...(needed.get(name) ?? []), `${spec.resource.kind} ${spec.resource.name}`]);
    }
  }
  const present = new Set(placed.clusters.map(({ name }) => name));
  const added: TargetCluster[] = [...needed.keys()].filter((name) => !present.has(name)).map((name) => ({ name }));
  if (added.length === 0) return placed;
  const required = clusters.flatMap(({ metadata: { name: cluster = '' } }): Decision[] => {
    const by = present.has(cluster) ? undefined : needed.get(cluster);
    const message = `${by?.toSorted(byName).join(', ')} needs it there`;
    return by ? [{ cluster, selected: true, reason: REQUIRED, message }] : [];
  });
  const others = placed.decisions.filter(({ cluster }) => present.has(cluster) || !needed.has(cluster));
  const decisions = [...others, ...required].toSorted((a, b) => byName(a.cluster, b.cluster));
  return { ...placed, decisions, clusters: [...placed.clusters, ...added].toSorted((a, b) => byName(a.name, b.name)) };
}

function nowhere({ clusters }: PlaceInput): Schedule {
  const message = 'nothing that needs it is placed there';
  const decisions = clusters
    .map(({ metadata }) => ({ cluster: metadata.name ?? '', selected: false, reason: 'NotRequired', message }))
    .toSorted((a, b) => byName(a.cluster, b.cluster));
  return { clusters: [], decisions };
}

function keyOf({ kind, name }: ObjectReference): string {
  return `${kind}/${name}`;
}
