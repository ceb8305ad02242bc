import type { KubeObject, PolicyRule } from '@asterism/machinery';

const RBAC = 'rbac.authorization.k8s.io';

/** A ClusterRole with one rule, and its binding to a user or a group. */
export function grant(
  name: string,
  subject: { kind: 'User' | 'Group'; name: string },
  rule: PolicyRule,
): [role: KubeObject, binding: KubeObject] {
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules: [rule] },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: [{ ...subject, apiGroup: RBAC }],
    },
  ];
}
