import type { KubeObject, PolicyRule } from '@asterism/machinery';
import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTER_REGISTRATIONS,
  CLUSTER_RESOURCE_BINDINGS,
  CLUSTERS,
  GROUP,
  HUB_CONFIGURATIONS,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
  SYSTEM_NAMESPACE,
  WORKS,
} from '../../api/index.ts';
import { hubRules, hubSystemRules } from './hub-rules.ts';
import { registerAccess } from './register-access.ts';
import { teamRoles } from './team-roles.ts';

const RBAC = 'rbac.authorization.k8s.io';
/** Not `asterism:hub`: that is a hub's in a member (`memberManifests`), and this API server may be one too. */
const NAME = 'asterism:hub-host';

const DEFINITIONS = [
  CLUSTERS,
  CLUSTER_REGISTRATIONS,
  HUB_CONFIGURATIONS,
  PROPAGATION_POLICIES,
  CLUSTER_PROPAGATION_POLICIES,
  OVERRIDE_POLICIES,
  CLUSTER_OVERRIDE_POLICIES,
  RESOURCE_BINDINGS,
  CLUSTER_RESOURCE_BINDINGS,
  WORKS,
].map(({ resource }) => `${resource}.${GROUP}`);

export interface HubManifestsOptions {
  /** `host`: templates stand in that API server. `embedded`: the hub serves them itself, and passes `asterism.dev` on. */
  templates: 'host' | 'embedded';
  /** Whom the hub's processes come as. The namespace must exist, unless it is `asterism-system`. */
  account: { namespace: string; name: string };
}

/**
 * What stands in a kube-apiserver before a hub runs on it; applied by whoever installs the hub. The account may do what the hub
 * does there and nothing else; the rest (kinds, routes) it installs itself.
 *
 * Keep its credentials as you keep an administrator's. Whoever has them may let clusters in, and so decide what runs in them;
 * may have token Secrets made, because RBAC narrows the creation of Secrets to no namespaces; and, in the form `embedded`, may
 * act as anybody there, because calls are passed on under their callers' names.
 */
export function hubManifests({ templates, account }: HubManifestsOptions): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...account } },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: NAME },
      rules: hubRules(templates, DEFINITIONS),
    },
    binding('ClusterRole', NAME, { name: NAME }, account),
    role(hubSystemRules()),
    binding('Role', NAME, { name: NAME, namespace: SYSTEM_NAMESPACE }, account),
    // Who callers are that the aggregator sends, and what they may do, is asked of the API server itself.
    binding('ClusterRole', 'system:auth-delegator', { name: `${NAME}:auth-delegator` }, account),
    binding(
      'Role',
      'extension-apiserver-authentication-reader',
      { name: `${NAME}:authentication-reader`, namespace: 'kube-system' },
      account,
    ),
    ...registerAccess(),
    ...teamRoles(),
  ];
}

function role(rules: PolicyRule[]): KubeObject {
  return { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name: NAME, namespace: SYSTEM_NAMESPACE }, rules };
}

function binding(
  kind: 'Role' | 'ClusterRole',
  name: string,
  metadata: { name: string; namespace?: string },
  account: { namespace: string; name: string },
): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: metadata.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  };
}
