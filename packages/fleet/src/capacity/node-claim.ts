import { meetsNodeRequirement, type Node, type NodeSelectorTerm, type PodSpec } from '@asterism/machinery';
import type { Toleration } from '../api/index.ts';

type Labels = NonNullable<NonNullable<Node['metadata']>['labels']>;

/** Which nodes a pod may go to. */
export interface NodeClaim {
  nodeSelector?: Readonly<Record<string, string>> | undefined;
  /** One of them must hold. */
  terms?: readonly NodeSelectorTerm[] | undefined;
  tolerations?: readonly Toleration[] | undefined;
}

/** What a pod's spec demands of its node; wishes do not count. */
export function nodeClaimOf({ nodeSelector, affinity, tolerations }: PodSpec): NodeClaim {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return {
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(terms === undefined ? {} : { terms }),
    ...(tolerations === undefined ? {} : { tolerations: tolerations as readonly Toleration[] }),
  };
}

/** `perhaps`: it hangs on labels that are not told. */
export type Match = 'yes' | 'no' | 'perhaps';

/** Whether nodes with these labels are claimed. `isUnlisted` tells of labels that nodes may have, though they are not told. */
export function matchesClaim(
  { nodeSelector = {}, terms }: NodeClaim,
  labels: Readonly<Labels>,
  isUnlisted: (key: string) => boolean,
): Match {
  const selected = allOf(
    Object.entries(nodeSelector).map(([key, value]) =>
      isUnlisted(key) ? 'perhaps' : labels[key] === value ? 'yes' : 'no',
    ),
  );
  if (terms === undefined) return selected;
  return allOf([selected, anyOf(terms.map((term) => matchesTerm(term, labels, isUnlisted)))]);
}

/** An empty term matches nothing (`k8s.io/component-helpers/scheduling/corev1/nodeaffinity`). */
function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  labels: Readonly<Labels>,
  isUnlisted: (key: string) => boolean,
): Match {
  if (matchExpressions.length + matchFields.length === 0) return 'no';
  return allOf([
    ...matchFields.map((): Match => 'perhaps'), // A field is the node's name.
    ...matchExpressions.map(
      (each): Match => (isUnlisted(each.key) ? 'perhaps' : meetsNodeRequirement(each, labels) ? 'yes' : 'no'),
    ),
  ]);
}

function allOf(matches: readonly Match[]): Match {
  return matches.includes('no') ? 'no' : matches.includes('perhaps') ? 'perhaps' : 'yes';
}

function anyOf(matches: readonly Match[]): Match {
  return matches.includes('yes') ? 'yes' : matches.includes('perhaps') ? 'perhaps' : 'no';
}
