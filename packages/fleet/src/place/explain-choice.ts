import { type KubeObject, parseApiVersion } from '@asterism/machinery';
import { type Policies, type Policy, priorityOf, selectionBy, SPECIFICITY } from './match-policy.ts';
import { formatFault, type SelectorFault, selectorFaults } from './selector-faults.ts';
import { byName } from '../template/tie-break.ts';

/** A policy that selects a template, or was meant to, and does not place it. */
export interface PassedOver {
  policy: Policy;
  /** A clause whose subject is that policy. */
  why: string;
}

const SELECTS: ReadonlyMap<number, string> = new Map([
  [SPECIFICITY.all, 'all of the kind'],
  [SPECIFICITY.labels, 'by labels'],
  [SPECIFICITY.name, 'by name'],
]);

/**
 * The policies that select the template beside the one that `choosePolicy` chose, each with the rule by which it is not the one; and
 * those that are unable to.
 */
export function passedOver(template: KubeObject, chosen: Policy, policies: Policies): PassedOver[] {
  const { namespaced, cluster, serves } = policies;
  const specificity = (policy: Policy): number => selectionBy(policy, template, serves)?.specificity ?? 0;
  const selecting = [...namespaced, ...cluster]
    .filter((policy) => policy !== chosen && specificity(policy) > 0)
    .map((policy) => ({ policy, why: whyNot(policy, chosen, specificity) }));
  const unable = unableToSelect(template, policies).filter(({ policy }) => specificity(policy) === 0);
  return [...selecting, ...unable];
}

/** The policies with a selector that may be meant for the template, and can select nothing. */
export function unableToSelect(template: KubeObject, { namespaced, cluster }: Policies): PassedOver[] {
  return [...namespaced, ...cluster].flatMap((policy) => {
    const faults = selectorFaults(policy).filter((fault) => mayMean(fault, policy, template));
    return faults.length === 0 ? [] : [{ policy, why: `selects nothing by ${faults.map(formatFault).join('; ')}` }];
  });
}

function mayMean({ selector }: SelectorFault, { metadata }: Policy, template: KubeObject): boolean {
  const { namespace, name } = template.metadata ?? {};
  const groupOf = (apiVersion = ''): string => parseApiVersion(apiVersion).group;
  if (selector.kind !== template.kind || groupOf(selector.apiVersion) !== groupOf(template.apiVersion)) return false;
  if (selector.name && selector.name !== name) return false;
  const namespaces = [selector.namespace, metadata.namespace].filter((each) => each !== undefined && each !== '');
  return namespaces.length === 0 || namespaces.includes(namespace);
}

/** By the order in which `choosePolicy` asks. Only a policy that has placed the template already stands before one that would win. */
function whyNot(policy: Policy, chosen: Policy, specificity: (policy: Policy) => number): string {
  const isNamespaced = policy.kind === 'PropagationPolicy';
  if (policy.kind !== chosen.kind) {
    return isNamespaced ? whyNoPreemption(policy) : 'is of the cluster, and one of the namespace goes before';
  }
  const priority = priorityOf(policy) - priorityOf(chosen);
  if (priority > 0) return whyNoPreemption(policy);
  if (priority < 0) return `has priority ${priorityOf(policy)}, lower than ${priorityOf(chosen)}`;
  const [own, other] = [specificity(policy), specificity(chosen)];
  if (own > other) return whyNoPreemption(policy);
  if (own < other) return `selects ${SELECTS.get(own)}, the other ${SELECTS.get(other)}`;
  const isLater = byName(policy.metadata.name ?? '', chosen.metadata.name ?? '') > 0;
  return isLater ? 'has the later name' : whyNoPreemption(policy);
}

function whyNoPreemption({ spec }: Policy): string {
  return spec.preemption === 'Always'
    ? 'preempts only policies of lower priority, and another has placed the template already'
    : 'does not preempt, and another has placed the template already';
}
