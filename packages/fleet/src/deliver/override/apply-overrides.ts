import { type KubeObject, type Steps } from '@asterism/machinery';
import type { Cluster, ClusterOverridePolicy, OverridePolicy, Overriders } from '../../api/index.ts';
import { matchesClusterAffinity } from '../../place/cluster-affinity.ts';
import { readLabelSelector } from '../../place/label-selector.ts';
import { bestSpecificity, SPECIFICITY } from '../../place/match-policy.ts';
import { isGuardedKind } from '../../template/guarded-kinds.ts';
import { byName } from '../../template/tie-break.ts';
import { NO_PACE, type Pace } from '../pace/pace.ts';
import { overrideField } from './override-field.ts';
import { overrideImages } from './override-image.ts';
import { overrideList, overrideMap, overridePlaintext } from './override-operations.ts';
import { type Change, changed, failed, type OverrideStep } from './override-step.ts';
import { OverrideTexts } from './override-texts.ts';

import type { UnappliedHere } from './unapplied-overrides.ts';
import { whyNotDeliverable } from './why-not-deliverable.ts';

export type AnyOverridePolicy = OverridePolicy | ClusterOverridePolicy;

export interface Overridden {
  object: KubeObject;
  /** Policies of which at least one rule is for this cluster, in the order in which they were applied: `namespace/name` or `name`. */
  policies: string[];
  /** What changes nothing here, or cannot be done here; of the latter, `object` must not be delivered. */
  unapplied: UnappliedHere[];
}

export interface OverrideSettings {
  texts?: OverrideTexts | undefined;
  /** Between the steps. Default: none is waited for. */
  pace?: Pace | undefined;
  /** A policy of the cluster has placed the object, and leaves it to no namespace to change it. Default false. */
  placedForCluster?: boolean | undefined;
}

/**
 * Applies to an object what override policies say for one cluster.
 *
 * O1  Policies of the cluster first, then those of the object's namespace; within each the least precise selector first, then
 *     by name. So what is said most precisely has the last word.
 * O2  Rules in the order of their policy; within a rule images, commands, arguments, labels, annotations, fields, plain text,
 *     merge patches.
 * O3  Nothing is skipped in silence: what does nothing is told (`NoEffect`), what cannot be done is a fault (`Failed`). Nor is a
 *     selector that cannot be read: who wrote it meant some object or cluster.
 * O4  An override changes what an object says, not which object it is: a policy of a namespace could else write into another.
 * O5  A policy of a namespace changes no object that guards the namespace (RBAC, quotas, network policies: see isGuardedKind), and
 *     none that a policy of the cluster has placed, unless that allows it. The object is delivered without it, and says so (`Refused`).
 * O6  Other work of the process gets its turn between the steps.
 */
export async function applyOverrides(
  object: KubeObject,
  cluster: Cluster,
  policies: readonly AnyOverridePolicy[],
  { texts = new OverrideTexts(), pace = NO_PACE, placedForCluster = false }: OverrideSettings = {},
): Promise<Overridden> {
  const outcome: Overridden = { object, policies: [], unapplied: [] };
  for (const { policy, faults } of inOrder(object, policies)) {
    const rules = rulesFor(policy, cluster);
    if (rules.length === 0) continue;
    const { namespace, name = '' } = policy.metadata;
    const origin = { kind: policy.kind, ...(namespace ? { namespace } : {}), name };
    const refusal = namespace === undefined ? undefined : whyRefused(object, placedForCluster);
    if (refusal !== undefined) {
      outcome.unapplied.push({ ...origin, reason: 'Refused', message: refusal });
      continue;
    }
    outcome.policies.push(namespace ? `${namespace}/${name}` : name);
    for (const message of faults) outcome.unapplied.push({ ...origin, reason: 'Failed', message });
    for (const { rule, overriders, fault } of rules) {
      const place = { ...origin, rule };
      if (fault === undefined) await applyRule(outcome, stepsOf(overriders, texts), place, pace);
      else outcome.unapplied.push({ ...place, reason: 'Failed', message: fault });
    }
  }
  return outcome;
}

/** Why a policy of a namespace must not change the object; undefined if it may. */
function whyRefused(object: KubeObject, placedForCluster: boolean): string | undefined {
  if (isGuardedKind(object))
    return `a policy of a namespace must not change a ${object.kind}: use a ClusterOverridePolicy`;
  if (!placedForCluster) return undefined;
  return 'a ClusterPropagationPolicy has placed the object, and does not say allowNamespaceOverrides: use a ClusterOverridePolicy';
}

/** Whether the policy says something of the object, for some cluster or other. */
export function mayOverride(policy: AnyOverridePolicy, object: KubeObject): boolean {
  return inOrder(object, [policy]).length > 0;
}

interface Selected {
  policy: AnyOverridePolicy;
  /** Selectors that cannot be read, and why. */
  faults: string[];
}

/** The policies that select the object, or may do so, in the order of O1. */
function inOrder(object: KubeObject, policies: readonly AnyOverridePolicy[]): Selected[] {
  const selected = policies.flatMap((policy) => {
    const { resourceSelectors = [] } = policy.spec;
    const { namespace } = policy.metadata;
    if (namespace !== undefined && namespace !== object.metadata?.namespace) return [];
    const rank = namespace === undefined ? 0 : 1;
    if (resourceSelectors.length === 0) return [{ policy, specificity: SPECIFICITY.all, rank, faults: [] }];
    const faults = resourceSelectors.flatMap((each, index) => selectorFault(each, index, object));
    const specificity = bestSpecificity(resourceSelectors, object, namespace);
    return specificity === 0 && faults.length === 0 ? [] : [{ policy, specificity, rank, faults }];
  });
  return selected.toSorted(
    (a, b) =>
      a.rank - b.rank ||
      a.specificity - b.specificity ||
      byName(a.policy.metadata.name ?? '', b.policy.metadata.name ?? ''),
  );
}

type Selector = NonNullable<OverridePolicy['spec']['resourceSelectors']>[number];

/** Why the labels of a selector cannot be read, where all else of it fits the object. */
function selectorFault(selector: Selector, index: number, object: KubeObject): string[] {
  const { apiVersion, kind, namespace, name, labelSelector } = selector;
  if (name || !labelSelector || apiVersion !== object.apiVersion || kind !== object.kind) return [];
  if (namespace && namespace !== object.metadata?.namespace) return [];
  const read = readLabelSelector(labelSelector);
  return 'fault' in read ? [`resourceSelectors[${index}].labelSelector: ${read.fault}`] : [];
}

interface RuleHere {
  /** Its index in the policy. */
  rule: number;
  overriders: Overriders;
  fault?: string;
}

/** The rules that are for the cluster, and those of which that cannot be said. */
function rulesFor({ spec }: AnyOverridePolicy, cluster: Cluster): RuleHere[] {
  return spec.overrideRules.flatMap(({ targetCluster = {}, overriders }, rule): RuleHere[] => {
    const { labelSelector, ...rest } = targetCluster;
    const read = labelSelector ? readLabelSelector(labelSelector) : [];
    if (!('fault' in read)) return matchesClusterAffinity(targetCluster, cluster) ? [{ rule, overriders }] : [];
    if (!matchesClusterAffinity(rest, cluster)) return [];
    return [{ rule, overriders, fault: `targetCluster.labelSelector: ${read.fault}` }];
  });
}

async function applyRule(
  outcome: Overridden,
  steps: readonly Step[],
  place: Pick<UnappliedHere, 'kind' | 'namespace' | 'name' | 'rule'>,
  pace: Pace,
): Promise<void> {
  for (const { overrider, step } of steps) {
    const { object, noEffect, failed: impossible } = await deliverable(outcome.object, step, pace);
    outcome.object = object;
    for (const message of noEffect)
      outcome.unapplied.push({ ...place, overrider: overrider(0), reason: 'NoEffect', message });
    for (const [index, message] of impossible.entries())
      if (message !== undefined)
        outcome.unapplied.push({ ...place, overrider: overrider(index), reason: 'Failed', message });
  }
}

async function deliverable(before: KubeObject, step: Step['step'], pace: Pace): Promise<OverrideStep> {
  try {
    const begun = await pace.run(() => step(before));
    const taken = 'next' in begun ? await takeSteps(begun, pace) : begun;
    const faults = await takeSteps(whyNotDeliverable(before, taken.object), pace);
    return faults.length > 0 ? failed(before, ...faults) : taken;
  } catch (error) {
    // One object, or a text in it, must not keep its binding from every cluster.
    if (error instanceof RangeError) return failed(before, 'it is nested too deeply');
    throw error;
  }
}

async function takeSteps<T>(steps: Steps<T>, pace: Pace): Promise<T> {
  for (;;) {
    const { done, value } = await pace.run(() => steps.next());
    if (done) return value;
  }
}

type Taking = OverrideStep | Steps<OverrideStep>;

interface Step {
  /** Its place in the rule, such as `imageOverrider[0]`; of a run, that of the operation with this index. */
  overrider: (index: number) => string;
  step: (object: KubeObject) => Taking | Promise<Taking>;
}

/** Each sees the object as the one before left it. */
function stepsOf(overriders: Overriders, texts: OverrideTexts): Step[] {
  const steps = <K extends keyof Overriders>(
    field: K,
    step: (object: KubeObject, overrider: NonNullable<Overriders[K]>[number]) => Taking | Promise<Taking>,
  ): Step[] =>
    (overriders[field] ?? []).map((each, index) => ({
      overrider: () => `${field}[${index}]`,
      step: (object) => step(object, each),
    }));
  return [
    ...steps('imageOverrider', overrideImages),
    ...steps('commandOverrider', (object, each) => overrideList(object, 'command', each)),
    ...steps('argsOverrider', (object, each) => overrideList(object, 'args', each)),
    ...steps('labelsOverrider', (object, each) => overrideMap(object, 'labels', each)),
    ...steps('annotationsOverrider', (object, each) => overrideMap(object, 'annotations', each)),
    ...steps('fieldOverrider', (object, each) => overrideField(object, each, texts)),
    ...runsOf(overriders.plaintext ?? []),
    ...steps('mergePatch', async (object, each) => merged(object, await texts.merge(object, each))),
  ];
}

function* merged(object: KubeObject, merge: Steps<Change>): Steps<OverrideStep> {
  return changed(object, yield* merge);
}

type Operation = NonNullable<Overriders['plaintext']>[number];

/**
 * Consecutive operations as one step, so that each part of a large object is copied once for all of them. An operation that reaches into
 * metadata is a step of its own: what it makes of the object must be checked.
 */
function runsOf(operations: readonly Operation[]): Step[] {
  const runs: { first: number; run: Operation[]; isOpen: boolean }[] = [];
  for (const [index, operation] of operations.entries()) {
    const last = runs.at(-1);
    const isOpen = !mayChangeMetadata(operation);
    if (isOpen && last?.isOpen) last.run.push(operation);
    else runs.push({ first: index, run: [operation], isOpen });
  }
  return runs.map(({ first, run }) => ({
    overrider: (index) => `plaintext[${first + index}]`,
    step: (object) => overridePlaintext(object, run),
  }));
}

const CHECKED_FIELDS: ReadonlySet<string | undefined> = new Set([undefined, 'apiVersion', 'kind', 'metadata']);

/** By the first member of the paths, whatever precedes their first slash: JSON patches ignore it. */
function mayChangeMetadata({ path, from = path }: Operation): boolean {
  return [path, from].some((pointer) => CHECKED_FIELDS.has(pointer.split('/', 2)[1]));
}
