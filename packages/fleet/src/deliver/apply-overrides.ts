import { applyJsonPatch, type KubeObject, StatusError } from '@asterism/machinery';
import type { Cluster, ClusterOverridePolicy, OverridePolicy, Overriders } from '../api/index.ts';
import { matchesClusterAffinity } from '../place/cluster-affinity.ts';
import { bestSpecificity, SPECIFICITY } from '../place/match-policy.ts';
import { byName } from '../place/tie-break.ts';
import {
  imageOperations,
  listOperations,
  mapOperations,
  type OverrideStep,
  plaintextOperations,
} from './override-operations.ts';

type AnyOverridePolicy = OverridePolicy | ClusterOverridePolicy;

export interface Overridden {
  object: KubeObject;
  /** Policies of which at least one rule is for this cluster, in the order in which they were applied: `namespace/name` or `name`. */
  policies: string[];
  /** Rules that change nothing here, and why. */
  remarks: string[];
  /** Rules that cannot be done here, and why. `object` must not be delivered. */
  faults: string[];
}

/**
 * Applies to an object what override policies say for one cluster.
 *
 * O1  Policies of the cluster first, then those of the object's namespace; within each the least precise selector first, then
 *     by name. So what is said most precisely has the last word.
 * O2  Rules in the order of their policy; within a rule images, commands, arguments, labels, annotations, then plain text.
 * O3  Nothing is skipped in silence: what does nothing is a remark, what cannot be done is a fault.
 */
export function applyOverrides(
  object: KubeObject,
  cluster: Cluster,
  policies: readonly AnyOverridePolicy[],
): Overridden {
  const outcome: Overridden = { object, policies: [], remarks: [], faults: [] };
  for (const policy of inOrder(object, policies)) {
    const rules = policy.spec.overrideRules.filter((rule) => matchesClusterAffinity(rule.targetCluster, cluster));
    if (rules.length === 0) continue;
    const { namespace, name = '' } = policy.metadata;
    const key = namespace ? `${namespace}/${name}` : name;
    outcome.policies.push(key);
    for (const { overriders } of rules) applyRule(outcome, overriders, `${policy.kind} ${key}`);
  }
  return outcome;
}

/** The policies that select the object, in the order of O1. */
function inOrder(object: KubeObject, policies: readonly AnyOverridePolicy[]): AnyOverridePolicy[] {
  const selected = policies.flatMap((policy) => {
    const { resourceSelectors = [] } = policy.spec;
    const { namespace } = policy.metadata;
    if (namespace !== undefined && namespace !== object.metadata?.namespace) return [];
    const specificity =
      resourceSelectors.length === 0 ? SPECIFICITY.all : bestSpecificity(resourceSelectors, object, namespace);
    return specificity === 0 ? [] : [{ policy, specificity, rank: namespace === undefined ? 0 : 1 }];
  });
  const ordered = selected.toSorted(
    (a, b) =>
      a.rank - b.rank ||
      a.specificity - b.specificity ||
      byName(a.policy.metadata.name ?? '', b.policy.metadata.name ?? ''),
  );
  return ordered.map(({ policy }) => policy);
}

function applyRule(outcome: Overridden, overriders: Overriders, where: string): void {
  for (const step of stepsOf(overriders)) {
    const { operations, remarks, faults } = step(outcome.object);
    outcome.remarks.push(...remarks.map((remark) => `${where}: ${remark}`));
    outcome.faults.push(...faults.map((fault) => `${where}: ${fault}`));
    if (operations.length === 0) continue;
    try {
      outcome.object = applyJsonPatch(outcome.object, operations) as KubeObject;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const why = error.cause instanceof Error ? error.cause.message : error.message;
      outcome.faults.push(`${where}: ${why}`);
    }
  }
}

type Step = (object: KubeObject) => OverrideStep;

/** Each sees the object as the one before left it. */
function stepsOf(overriders: Overriders): Step[] {
  const { imageOverrider = [], commandOverrider = [], argsOverrider = [], labelsOverrider = [] } = overriders;
  const { annotationsOverrider = [], plaintext = [] } = overriders;
  return [
    ...imageOverrider.map(
      (each): Step =>
        (object) =>
          imageOperations(object, each),
    ),
    ...commandOverrider.map(
      (each): Step =>
        (object) =>
          listOperations(object, 'command', each),
    ),
    ...argsOverrider.map(
      (each): Step =>
        (object) =>
          listOperations(object, 'args', each),
    ),
    ...labelsOverrider.map(
      (each): Step =>
        (object) =>
          mapOperations(object, 'labels', each),
    ),
    ...annotationsOverrider.map(
      (each): Step =>
        (object) =>
          mapOperations(object, 'annotations', each),
    ),
    ...plaintext.map(
      (each): Step =>
        (object) =>
          plaintextOperations(object, each),
    ),
  ];
}
