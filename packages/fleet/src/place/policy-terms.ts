import { createHash } from 'node:crypto';
import type { KubeObject } from '@asterism/machinery';
import type { Binding } from '../template/binding-client.ts';
import type { Policy } from './match-policy.ts';

type BindingSpec = Binding['spec'];

/** What a policy says of a template, as its binding keeps it. */
export type PolicyTerms = Pick<
  BindingSpec,
  | 'policy'
  | 'placement'
  | 'propagateDeps'
  | 'allowNamespaceOverrides'
  | 'conflictResolution'
  | 'preserveResourcesOnDeletion'
  | 'suspension'
> & {
  /** Only of a Lazy policy. */
  templateDigest?: string;
};

/** The terms that hold now; `awaited` where none do before the template changes. */
export interface TermsInForce {
  terms: PolicyTerms;
  awaited: boolean;
}

/**
 * What of a policy holds for a template now. A Lazy one leaves everything as it is until the template changes: what the binding
 * says still holds, whichever policy it came from, and a template that is older than the policy and stands nowhere waits.
 */
export function termsInForce(policy: Policy, template: KubeObject, last: BindingSpec | undefined): TermsInForce {
  if (policy.spec.activationPreference !== 'Lazy') return { terms: termsOf(policy, last), awaited: false };
  const templateDigest = digestOf(template);
  if (!last?.policy) {
    const awaited = (template.metadata?.creationTimestamp ?? '') < (policy.metadata.creationTimestamp ?? '');
    return { terms: { ...termsOf(policy, last), templateDigest }, awaited };
  }
  if (!holdsUntilChange(policy, template, last))
    return { terms: { ...termsOf(policy, last), templateDigest }, awaited: false };
  const awaited = last.unschedulable?.reason === 'AwaitsTemplate';
  return {
    terms: { ...termsOfBinding(last), ...suspensionOf(policy, last), policy: referenceTo(policy), templateDigest },
    awaited,
  };
}

/** Whether what a binding says still holds, whatever its policy says by now: that is Lazy, and the template has not changed since. */
export function holdsUntilChange({ spec }: Policy, template: KubeObject, last: BindingSpec): boolean {
  if (spec.activationPreference !== 'Lazy' || !last.policy) return false;
  return last.templateDigest === undefined || last.templateDigest === digestOf(template);
}

function termsOf(policy: Policy, last: BindingSpec | undefined): PolicyTerms {
  const { placement = {}, propagateDeps, conflictResolution, preserveResourcesOnDeletion } = policy.spec;
  return {
    policy: referenceTo(policy),
    placement,
    ...(propagateDeps ? { propagateDeps } : {}),
    ...(allowsOverrides(policy) ? { allowNamespaceOverrides: true } : {}),
    ...(conflictResolution ? { conflictResolution } : {}),
    ...(preserveResourcesOnDeletion ? { preserveResourcesOnDeletion } : {}),
    ...suspensionOf(policy, last),
  };
}

function allowsOverrides(policy: Policy): boolean {
  return policy.kind === 'ClusterPropagationPolicy' && policy.spec.allowNamespaceOverrides === true;
}

/**
 * Of dispatching, what the policy says now, be it Lazy or not: who holds back means at once. Of scheduling, the binding's own word,
 * if it says one: a queue holds and releases single templates there.
 */
function suspensionOf(policy: Policy, last: BindingSpec | undefined): Pick<BindingSpec, 'suspension'> {
  const { dispatching, dispatchingOnClusters } = policy.spec.suspension ?? {};
  const scheduling = last?.suspension?.scheduling;
  const suspension = {
    ...(dispatching ? { dispatching } : {}),
    ...(dispatchingOnClusters?.clusterNames?.length ? { dispatchingOnClusters } : {}),
    ...(scheduling === undefined ? {} : { scheduling }),
  };
  return Object.keys(suspension).length > 0 ? { suspension } : {};
}

/** Whether nothing may be decided for now: as the binding says, or else as the policy does. */
export function isSchedulingSuspended(policy: Policy, last: BindingSpec | undefined): boolean {
  return last?.suspension?.scheduling ?? policy.spec.suspension?.scheduling ?? false;
}

function termsOfBinding(last: BindingSpec): PolicyTerms {
  const {
    placement = {},
    propagateDeps,
    allowNamespaceOverrides,
    conflictResolution,
    preserveResourcesOnDeletion,
  } = last;
  return {
    placement,
    ...(propagateDeps ? { propagateDeps } : {}),
    ...(allowNamespaceOverrides ? { allowNamespaceOverrides } : {}),
    ...(conflictResolution ? { conflictResolution } : {}),
    ...(preserveResourcesOnDeletion ? { preserveResourcesOnDeletion } : {}),
  };
}

function referenceTo({ apiVersion, kind, metadata }: Policy): NonNullable<BindingSpec['policy']> {
  const { namespace, name = '', uid } = metadata;
  return { apiVersion, kind, name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) };
}

const DIGEST_LENGTH = 16;

/** Of all that a person can change of an object: its status and what a server sets do not count. */
function digestOf(template: KubeObject): string {
  const { generation, labels = {}, annotations = {}, uid } = template.metadata ?? {};
  const content = Object.entries(template).filter(([field]) => field !== 'metadata' && field !== 'status');
  const text = JSON.stringify([uid, labels, annotations, generation ?? content]);
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}
