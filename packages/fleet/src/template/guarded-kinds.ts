import { parseApiVersion } from '@asterism/machinery';

/** Groups all of whose kinds say who may do what, or what is admitted. */
const GUARDED_GROUPS: ReadonlySet<string> = new Set([
  'rbac.authorization.k8s.io',
  'authorization.openshift.io',
  'admissionregistration.k8s.io',
  'policy.networking.k8s.io',
  'security.openshift.io',
]);

/** Kinds that limit what is in a namespace, whichever group serves them: `extensions/v1beta1` and CNI plugins have a NetworkPolicy too. */
const GUARDED_KINDS: ReadonlySet<string> = new Set([
  'ResourceQuota',
  'LimitRange',
  'NetworkPolicy',
  'NetworkSet',
  'CiliumNetworkPolicy',
  'AdminNetworkPolicy',
  'BaselineAdminNetworkPolicy',
  'MultiNetworkPolicy',
  'AppliedClusterResourceQuota',
  'EgressNetworkPolicy',
  'PodSecurityPolicy',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'Role',
  'RoleBinding',
  'ClusterRole',
  'ClusterRoleBinding',
]);

/**
 * Whether objects of the kind guard a namespace against those who may write in it: access control, quotas, limits, network policies,
 * admission. Policies of a namespace do not change what an administrator has said by them.
 */
export function isGuardedKind({ apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string }): boolean {
  return GUARDED_KINDS.has(kind) || GUARDED_GROUPS.has(parseApiVersion(apiVersion).group);
}
