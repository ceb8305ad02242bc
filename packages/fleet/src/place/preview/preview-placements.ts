import { deepEqual, type KubeObject } from '@asterism/machinery';
import type { Cluster, ObjectReference, TargetCluster } from '../../api/index.ts';
import { type Binding, newBinding } from '../../template/binding-client.ts';
import { DEPENDENCY_KINDS, dependencyKeysOf, leadersOf } from '../../template/dependencies.ts';
import { type PassedOver, passedOver } from '../explain-choice.ts';
import { KnownClusters } from '../known-clusters.ts';
import { type Policies, type Policy, selectionBy } from '../match-policy.ts';
import { placeTemplate } from '../place-template.ts';
import { holdsUntilChange } from '../policy-terms.ts';
import { isReserved } from '../../template/reserved.ts';
import { formatTemplateKey, templateKeyOf } from '../../template/template-key.ts';
import { byName } from '../../template/tie-break.ts';
import { chooseByGrounds, isPowerless } from '../rights/choose-entitled.ts';
import type { Grounds } from '../rights/grounds.ts';

/** A fleet as it would be: what is asked is what the hub would decide of it. */
export interface ImaginedFleet {
  /** Those that are asked about, with what they need where they go. */
  templates: readonly KubeObject[];
  /** Of all these, and of whatever they follow: as they are now. */
  bindings: readonly Binding[];
  policies: Policies;
  /** Those override policies that there are, by namespace and name: all that a policy may depend on. */
  overrides: ReadonlySet<string>;
  clusters: readonly Cluster[];
  /** What the rights of policies' authors allow; default: everything. */
  rights?: FleetRights | undefined;
}

/** What the rights of policies' authors allow in an imagined fleet. */
export interface FleetRights {
  /** Undefined if the policy does not select the template. */
  groundsOf(policy: Policy, template: KubeObject): Grounds | undefined;
}

/** What would become of one template. */
export interface PlacementPreview {
  template: KubeObject;
  /** Undefined where it is placed nowhere now. */
  before: Binding | undefined;
  /** Undefined where it would be placed nowhere. One that is not there yet has no uid. */
  after: Binding | undefined;
  /** The policy that would place it by itself. */
  policy: Policy | undefined;
  passedOver: PassedOver[];
}

/**
 * Decides for each template as the hub's controller would next, by the same functions, and writes nothing. Templates that are
 * placed neither now nor then are left out.
 *
 * V1  Of a fleet as it is, the answer is what stands already: only what was changed in the imagined one makes a difference.
 * V2  Each decision is taken by what clusters say of themselves now, as the hub takes those that fall together: that others come
 *     or go in the same moment is not counted as room.
 */
export function previewPlacements(fleet: ImaginedFleet): PlacementPreview[] {
  const { templates, bindings, policies, overrides, clusters, rights } = fleet;
  const known = new KnownClusters();
  const isOverrideThere = (key: string): boolean => overrides.has(key);
  const bindingOf = new Map(bindings.map((binding) => [formatTemplateKey(binding.spec.resource), binding]));
  const previews = new Map<string, PlacementPreview>();
  const [followers, leaders] = partition(templates, isDependencyKind);
  const preview = (template: KubeObject, parents: readonly Binding[]): void => {
    const key = formatTemplateKey(templateKeyOf(template));
    const before = bindingOf.get(key);
    const rules = policiesFor(template, policies);
    const canBePlaced = !template.metadata?.deletionTimestamp && !isReserved(template);
    const groundsOf = (each: Policy): Grounds | undefined => rights?.groundsOf(each, template);
    const choice = { policies: rules, holder: before?.spec.policy, clusters: clusters.length, groundsOf };
    const { policy, grounds } = (canBePlaced && chooseByGrounds(template, choice)) || {};
    const isPlaced = policy !== undefined || (canBePlaced && parents.length > 0);
    if (!isPlaced && !before) return;
    const placed = policy ? inVersionOf(policy, template, before, policies.serves) : template;
    const input = { template: placed, policy, grounds, parents, clusters, last: before?.spec, known, isOverrideThere };
    const after = isPlaced ? bindingWith(placed, before, placeTemplate(input)) : undefined;
    previews.set(key, {
      template,
      before,
      after,
      policy,
      passedOver: policy
        ? passedOver(template, policy, rules).map((each) => withRights(each, clusters, groundsOf(each.policy)))
        : [],
    });
  };
  for (const template of leaders) preview(template, []);
  // Of those that follow, only service accounts are followed themselves.
  for (const tier of partition(followers, ({ kind }) => kind === 'ServiceAccount')) {
    const parentsOf = parentsAmong(previews, bindingOf);
    for (const template of tier) preview(template, parentsOf(template));
  }
  return [...previews.values()];
}

/** A policy that may place the template nowhere is passed over for that, whatever its priority. */
export function withRights(
  { policy, why }: PassedOver,
  clusters: readonly Cluster[],
  grounds: Grounds | undefined,
): PassedOver {
  if (policy.kind !== 'PropagationPolicy' || !grounds || !isPowerless(grounds, clusters.length)) return { policy, why };
  const [refusal] = grounds.refusals.values();
  return { policy, why: `may place it nowhere: ${grounds.unread ?? refusal}` };
}

/** Templates of these kinds follow: they are looked at when it is known where others go. */
function isDependencyKind({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === 'v1' && DEPENDENCY_KINDS.some((each) => each === kind);
}

function partition<T>(all: readonly T[], test: (each: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((each) => !test(each))];
}

function policiesFor({ metadata }: KubeObject, { namespaced, ...others }: Policies): Policies {
  return { namespaced: namespaced.filter((policy) => policy.metadata.namespace === metadata?.namespace), ...others };
}

/** The template under the version by which the hub would place it: what is decided of it is in all of them the same. */
function inVersionOf(
  policy: Policy,
  template: KubeObject,
  before: Binding | undefined,
  serves: Policies['serves'],
): KubeObject {
  const placed = before && { ...template, apiVersion: before.spec.resource.apiVersion };
  if (placed && holdsUntilChange(policy, placed, before.spec)) return placed;
  const selection = selectionBy(policy, template, serves);
  return selection ? { ...template, apiVersion: selection.apiVersion } : template;
}

function bindingWith(template: KubeObject, before: Binding | undefined, spec: Binding['spec']): Binding {
  return before ? ({ ...before, spec } as Binding) : newBinding(template, spec, { owned: false, isTaken: () => false });
}

/** Whom a template would follow: by the previews where there is one, else as it does now. */
function parentsAmong(previews: ReadonlyMap<string, PlacementPreview>, bindingOf: ReadonlyMap<string, Binding>) {
  const needed = new Map<string, Binding[]>();
  const then = (template: ObjectReference): Binding | undefined => {
    const key = formatTemplateKey(template);
    return previews.has(key) ? previews.get(key)?.after : bindingOf.get(key);
  };
  for (const { template, after } of previews.values()) {
    const leaders = after ? leadersOf(after, then) : [];
    if (leaders.length === 0) continue;
    for (const key of dependencyKeysOf(template).map(formatTemplateKey)) {
      needed.set(key, [...(needed.get(key) ?? []), ...leaders]);
    }
  }
  const mayTake =
    ({ kind, metadata }: KubeObject) =>
    ({ spec }: Binding): boolean =>
      !spec.withheld?.some((each) => each.kind === kind && each.name === metadata?.name);
  return (template: KubeObject): Binding[] => {
    const key = formatTemplateKey(templateKeyOf(template));
    const others = (bindingOf.get(key)?.spec.requiredBy ?? []).filter((each) => !previews.has(formatTemplateKey(each)));
    const staying = others.flatMap((other) => bindingOf.get(formatTemplateKey(other)) ?? []);
    const leaders = [...(needed.get(key) ?? []), ...staying.flatMap((each) => leadersOf(each, then))];
    return [...new Set(leaders)].filter(mayTake(template));
  };
}

/** What one cluster would gain or lose; `undefined` is not at all, a target without replicas is the whole object. */
export interface ClusterChange {
  cluster: string;
  before: TargetCluster | undefined;
  after: TargetCluster | undefined;
}

/** Every cluster that has the template now or would have it, by name, also where nothing changes for it. */
export function clusterChanges({ before, after }: PlacementPreview): ClusterChange[] {
  const now = targetsByName(before);
  const then = targetsByName(after);
  return [...new Set([...now.keys(), ...then.keys()])]
    .toSorted(byName)
    .map((cluster) => ({ cluster, before: now.get(cluster), after: then.get(cluster) }));
}

/** Whether a template would stand elsewhere, in other numbers, or by another policy's leave. */
export function isChanged(preview: PlacementPreview): boolean {
  const { before, after } = preview;
  return (
    clusterChanges(preview).some((change) => !deepEqual(change.before, change.after)) ||
    !deepEqual(before?.spec.policy, after?.spec.policy) ||
    before?.spec.unschedulable?.reason !== after?.spec.unschedulable?.reason
  );
}

function targetsByName(binding: Binding | undefined): Map<string, TargetCluster> {
  return new Map((binding?.spec.clusters ?? []).map((target) => [target.name, target]));
}
