import type { ClusterRole, ClusterRoleBinding } from '@asterism/machinery';
import { CLUSTERNET_REGISTER_GROUP, GROUP, REGISTER_GROUP } from '../../api/index.ts';

const RBAC = 'rbac.authorization.k8s.io';
const NAME = 'asterism:register';

/**
 * What a bootstrap token may do: ask to join, and look at what became of it, by its name. It can list nothing, so it cannot
 * find the requests of others.
 */
export function registerAccess(): [ClusterRole, ClusterRoleBinding] {
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: NAME },
      rules: [
        { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
        { apiGroups: [GROUP], resources: ['clusterregistrations'], verbs: ['create', 'get'] },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: NAME },
      subjects: [REGISTER_GROUP, CLUSTERNET_REGISTER_GROUP].map((name) => ({ apiGroup: RBAC, kind: 'Group', name })),
    },
  ];
}
