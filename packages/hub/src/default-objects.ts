import { ADMINS_GROUP, GROUP, REGISTER_GROUP, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import type { ClusterRole, ClusterRoleBinding, Namespace } from '@asterism/machinery';

const RBAC = 'rbac.authorization.k8s.io';

export const DEFAULT_NAMESPACE: Namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: SYSTEM_NAMESPACE },
};

/**
 * What a bootstrap token may do: ask to join, and look at what became of it, by its name. It can list nothing, so it cannot
 * find the requests of others.
 */
export const DEFAULT_CLUSTER_ROLES: readonly ClusterRole[] = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'asterism:register' },
    rules: [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
      { apiGroups: [GROUP], resources: ['clusterregistrations'], verbs: ['create', 'get'] },
    ],
  },
];

export const DEFAULT_CLUSTER_ROLE_BINDINGS: readonly ClusterRoleBinding[] = [
  groupBinding('asterism:register', REGISTER_GROUP, 'asterism:register'),
  groupBinding('asterism:admins', ADMINS_GROUP, 'cluster-admin'),
];

function groupBinding(name: string, group: string, role: string): ClusterRoleBinding {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: group }],
  };
}
