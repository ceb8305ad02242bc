import { type KubeObject, matchesLabels, parseApiVersion } from '@asterism/machinery';
import type { ClusterPropagationPolicy, ObjectReference, PropagationPolicy, ResourceSelector } from '../api/index.ts';
import { isGuardedKind } from '../template/guarded-kinds.ts';
import type { Kind } from '../template/kind-informers.ts';
import { readLabelSelector } from './label-selector.ts';
import { byName } from '../template/tie-break.ts';

export type Policy = PropagationPolicy | ClusterPropagationPolicy;

/** How precisely a selector names an object; a higher one wins. */
export const SPECIFICITY = { all: 1, labels: 2, name: 3 } as const;

/**
 * How precisely the selector names the object; 0 where it does not select it. A name wins over labels, which are then not
 * looked at; neither selects every object of the kind.
 *
 * @param namespace of the policy, which reaches no further; undefined for a policy of the whole cluster
 */
export function specificityOf(selector: ResourceSelector, object: KubeObject, namespace: string | undefined): number {
  if (selector.apiVersion !== object.apiVersion || selector.kind !== object.kind) return 0;
  const { namespace: own, name, labels } = object.metadata ?? {};
  if (namespace !== undefined && own !== namespace) return 0;
  if (selector.namespace && selector.namespace !== own) return 0;
  if (selector.name) return selector.name === name ? SPECIFICITY.name : 0;
  if (!selector.labelSelector) return SPECIFICITY.all;
  const requirements = readLabelSelector(selector.labelSelector);
  return !('fault' in requirements) && matchesLabels(requirements, labels) ? SPECIFICITY.labels : 0;
}

/** The most precise of the selectors; 0 where none selects the object. */
export function bestSpecificity(
  selectors: readonly ResourceSelector[],
  object: KubeObject,
  namespace: string | undefined,
): number {
  return Math.max(0, ...selectors.map((selector) => specificityOf(selector, object, namespace)));
}

export interface Policies {
  /** Of the object's namespace. */
  namespaced: readonly PropagationPolicy[];
  cluster: readonly ClusterPropagationPolicy[];
  /** Whether a version by which a policy names the object, another than the object's own, is served. Default: each of them. */
  serves?: ((kind: Kind) => boolean) | undefined;
}

/** How a policy names an object. */
export interface Selection {
  /** Of its most precise selector. */
  specificity: number;
  /** Of that selector, the first of several: the version in which the object is placed. */
  apiVersion: string;
}

/** How the policy selects the object, in whichever of its versions; undefined where it does not. */
export function selectionBy(policy: Policy, object: KubeObject, serves?: Policies['serves']): Selection | undefined {
  let best: Selection | undefined;
  for (const selector of policy.spec.resourceSelectors) {
    const named = asNamedBy(selector, object, serves);
    const specificity = named ? specificityOf(selector, named, policy.metadata.namespace) : 0;
    if (specificity > (best?.specificity ?? 0)) best = { specificity, apiVersion: selector.apiVersion };
  }
  return best;
}

/** The object as of the version of the selector: what is matched of it is the same in all. Undefined where it is of another kind. */
function asNamedBy({ apiVersion, kind }: Kind, object: KubeObject, serves: Policies['serves']): KubeObject | undefined {
  if (object.kind !== kind) return undefined;
  if (object.apiVersion === apiVersion) return object;
  const isVersion = parseApiVersion(apiVersion).group === parseApiVersion(object.apiVersion ?? '').group;
  return isVersion && (serves?.({ apiVersion, kind }) ?? true) ? { ...object, apiVersion } : undefined;
}

/**
 * The one policy that places the object, in whichever of its versions they name it: a policy of its namespace before one of the
 * cluster, then the highest priority, then the most precise selector, then the first name.
 *
 * A policy that has placed it keeps it as long as it selects it, unless one with `preemption: Always` takes it over: of higher
 * priority, or of the namespace where the other is of the cluster.
 *
 * Of kinds that guard a namespace (see {@link isGuardedKind}) a policy of the cluster wins: a namespace cannot take from itself what an
 * administrator has placed to limit it.
 *
 * @param holder - the policy that has placed it. One of that name that was made anew is another.
 */
export function choosePolicy(
  object: KubeObject,
  { namespaced, cluster, serves }: Policies,
  holder?: ObjectReference,
): Policy | undefined {
  const best = (policies: readonly Policy[]): Policy | undefined => bestOf(object, policies, serves);
  const guarding = isGuardedKind(object) && cluster.some((policy) => selectionBy(policy, object, serves));
  if (guarding && namespaced.length > 0) return choosePolicy(object, { namespaced: [], cluster, serves }, holder);
  const held = [...namespaced, ...cluster].find((policy) => holder !== undefined && isOf(holder, policy));
  if (!held || !selectionBy(held, object, serves)) return best(namespaced) ?? best(cluster);
  const mayTakeOver = (policy: Policy): boolean =>
    policy.spec.preemption === 'Always' &&
    (policy.kind === held.kind ? priorityOf(policy) > priorityOf(held) : policy.kind === 'PropagationPolicy');
  return best(namespaced.filter(mayTakeOver)) ?? best(cluster.filter(mayTakeOver)) ?? held;
}

/** Whether a reference means this very policy. */
export function isOf({ kind, namespace, name, uid }: ObjectReference, { kind: own, metadata }: Policy): boolean {
  return kind === own && name === metadata.name && namespace === metadata.namespace && uid === metadata.uid;
}

export function priorityOf({ spec }: Policy): number {
  return spec.priority ?? 0;
}

function bestOf(object: KubeObject, policies: readonly Policy[], serves: Policies['serves']): Policy | undefined {
  let winner: { policy: Policy; specificity: number } | undefined;
  for (const policy of policies) {
    const selection = selectionBy(policy, object, serves);
    if (!selection) continue;
    const challenger = { policy, specificity: selection.specificity };
    if (!winner || comesBefore(challenger, winner)) winner = challenger;
  }
  return winner?.policy;
}

function comesBefore(a: { policy: Policy; specificity: number }, b: { policy: Policy; specificity: number }): boolean {
  const byPriority = priorityOf(b.policy) - priorityOf(a.policy);
  const order = byPriority || b.specificity - a.specificity || byName(nameOf(a.policy), nameOf(b.policy));
  return order < 0;
}

function nameOf({ metadata }: Policy): string {
  return metadata.name ?? '';
}
