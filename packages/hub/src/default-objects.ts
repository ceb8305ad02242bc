import { ADMINS_GROUP, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { registerAccess, teamRoles } from '@asterism/fleet/join';
import type { ClusterRole, ClusterRoleBinding, Namespace } from '@asterism/machinery';

const RBAC = 'rbac.authorization.k8s.io';

export const DEFAULT_NAMESPACE: Namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: SYSTEM_NAMESPACE },
};

/** Roles that the hub installs, and who has them. */
export interface DefaultRoles {
  clusterRoles: readonly ClusterRole[];
  bindings: readonly ClusterRoleBinding[];
}

const [REGISTER_ROLE, REGISTER_BINDING] = registerAccess();

/** In an API server of the hub's own, whose administrators it makes. */
export const EMBEDDED_ROLES: DefaultRoles = {
  clusterRoles: [REGISTER_ROLE, ...teamRoles()],
  bindings: [REGISTER_BINDING, groupBinding('asterism:admins', ADMINS_GROUP, 'cluster-admin')],
};

/** In somebody else's: who is an administrator there is for them to say. */
export const HOST_ROLES: DefaultRoles = { clusterRoles: [REGISTER_ROLE], bindings: [REGISTER_BINDING] };

function groupBinding(name: string, group: string, role: string): ClusterRoleBinding {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: group }],
  };
}
