import type { ClusterRole } from '@asterism/machinery';
import {
  CLUSTERS,
  GROUP,
  OVERRIDE_POLICIES,
  PLACE_VERB,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
} from '../../api/index.ts';

const RBAC = 'rbac.authorization.k8s.io';
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** To be bound in the namespaces of a team: to write its policies, and to read what came of them. */
export const POLICY_EDITOR_ROLE = 'asterism:policy-editor';
/** To be bound for the whole API server: to place in every cluster. */
export const PLACE_ROLE = 'asterism:place';

/**
 * Roles for the teams that share a fleet; nobody has them before an administrator binds them. They are not aggregated to `edit` or
 * `admin`: whoever may edit a namespace of the hub does not for that reason write into the members.
 */
export function teamRoles(): [policyEditor: ClusterRole, place: ClusterRole] {
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: POLICY_EDITOR_ROLE },
      rules: [
        {
          apiGroups: [GROUP],
          resources: [PROPAGATION_POLICIES.resource, OVERRIDE_POLICIES.resource],
          verbs: [...READ, ...WRITE],
        },
        { apiGroups: [GROUP], resources: [RESOURCE_BINDINGS.resource], verbs: READ },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: PLACE_ROLE },
      rules: [{ apiGroups: [GROUP], resources: [CLUSTERS.resource], verbs: [...READ, PLACE_VERB] }],
    },
  ];
}
