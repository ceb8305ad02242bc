import type { KubeObject, PolicyRule } from '@asterism/machinery';
import {
  AGENT_CREDENTIAL_SECRET,
  AGENT_SERVICE_ACCOUNT,
  CALLERS_ROLE,
  type Cluster,
  FIXED_CALLERS_ANNOTATION,
  HUB_SERVICE_ACCOUNT,
  MADE_BY_JOIN,
  MADE_BY_LABEL,
  SYSTEM_NAMESPACE,
} from '../../api/index.ts';
import { impersonationRules } from '../../reach/callers.ts';
import {
  actingAccount,
  clusterRulesOf,
  DEFAULT_PROFILE,
  type Permissions,
  permissionAnnotations,
  permittedNamespaces,
  READ_SERVER,
  TAKE_OUT_IN_SYSTEM_NAMESPACE,
  WORKLOADS_ROLE,
  workloadRules,
} from './permissions.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** What an agent that only reports needs. */
const STATUS: PolicyRule[] = [
  { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
  { apiGroups: [''], resources: ['endpoints'], resourceNames: ['kubernetes'], verbs: ['get'] },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: ['kubeadm-config'], verbs: ['get'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: ['get', 'list', 'watch'] },
  // It reports what the hub's account may do.
  { apiGroups: [RBAC], resources: ['clusterroles'], resourceNames: ['asterism:hub'], verbs: ['get'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  READ_SERVER,
];

export interface MemberManifestsOptions {
  syncMode: Cluster['spec']['syncMode'];
  /** Default: the profile `platform`. */
  permissions?: Permissions | undefined;
}

/**
 * The objects that a member needs before its agent starts. An administrator of the member applies them.
 *
 * `Push`: the agent reads what status needs and may create tokens of one service account, `asterism-hub`. With these the hub reads,
 * writes and acts as the proxy's callers. `Pull` and `Dual`: the agent does this itself, and the hub has no identity here. The account
 * that acts has the rights of its profile.
 */
export function memberManifests({ syncMode, permissions }: MemberManifestsOptions): KubeObject[] {
  const push = syncMode === 'Push';
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
    serviceAccount(AGENT_SERVICE_ACCOUNT),
    ...(push
      ? [serviceAccount(HUB_SERVICE_ACCOUNT), ...clusterGrant('asterism:agent', AGENT_SERVICE_ACCOUNT, STATUS)]
      : []),
    ...namespaceGrant('asterism:agent', AGENT_SERVICE_ACCOUNT, agentRules(push)),
  ];
  return [...objects.map(madeByJoin), ...actingManifests(syncMode, permissions)];
}

/**
 * The objects that a member without an agent needs: the account by which the hub reads, writes and acts as its callers there, and
 * renews its own token.
 */
export function directManifests(permissions?: Permissions): KubeObject[] {
  return [
    ...[
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
      serviceAccount(HUB_SERVICE_ACCOUNT),
      ...namespaceGrant('asterism:hub', HUB_SERVICE_ACCOUNT, [OWN_TOKEN]),
    ].map(madeByJoin),
    ...actingManifests('Push', permissions),
  ];
}

/** The rights of the account that acts in the member. */
function actingManifests(
  syncMode: Cluster['spec']['syncMode'],
  permissions: Permissions = { profile: DEFAULT_PROFILE },
): KubeObject[] {
  const { name, clusterRole } = actingAccount(syncMode);
  const [role, binding] = clusterGrant(clusterRole, name, clusterRulesOf(permissions.profile));
  const annotated = { ...role, metadata: { ...role.metadata, annotations: permissionAnnotations(permissions) } };
  const acting = [annotated, binding, ...callersGrant(name, permissions)];
  if (permissions.profile !== 'workloads') return acting.map(madeByJoin);
  const namespaces = permittedNamespaces(permissions);
  const written = [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: WORKLOADS_ROLE }, rules: workloadRules() },
    ...namespaceGrant('asterism:take-out', name, [...TAKE_OUT_IN_SYSTEM_NAMESPACE]),
    ...namespaces.map((namespace) => roleBinding({ name: WORKLOADS_ROLE, namespace }, 'ClusterRole', name)),
  ];
  // They are not marked as the join's: their contents are not the join's to delete.
  const bare = namespaces.map((namespace) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }));
  return [...acting.map(madeByJoin), ...bare, ...written.map(madeByJoin)];
}

/**
 * The hub writes the rules, by `escalate` on this one role. The profile `workloads` has no `escalate`, because the account could then
 * give itself every right: there the administrator names the callers.
 */
function callersGrant(account: string, { profile, callers }: Permissions): [KubeObject, KubeObject] {
  if (profile !== 'workloads') return clusterGrant(CALLERS_ROLE, account, []);
  const rules = impersonationRules({ users: callers?.users ?? [], groups: callers?.groups ?? [], anyUser: false });
  const [role, binding] = clusterGrant(CALLERS_ROLE, account, rules);
  const metadata = { ...role.metadata, annotations: { [FIXED_CALLERS_ANNOTATION]: 'true' } };
  return [{ ...role, metadata }, binding];
}

/** Marks what a join makes in a member: by this it is found when the cluster leaves. */
export function madeByJoin<T extends KubeObject>(object: T): T {
  const labels = { ...object.metadata?.labels, [MADE_BY_LABEL]: MADE_BY_JOIN };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** Its own key, which no rule can allow to create by name. */
function agentRules(push: boolean): PolicyRule[] {
  return [
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: [AGENT_CREDENTIAL_SECRET],
      verbs: ['get', 'update', 'patch', 'delete'],
    },
    ...(push ? [OWN_TOKEN] : []),
  ];
}

/** For the token by which the hub acts in a member that it dials. */
const OWN_TOKEN: PolicyRule = {
  apiGroups: [''],
  resources: ['serviceaccounts/token'],
  resourceNames: [HUB_SERVICE_ACCOUNT],
  verbs: ['create'],
};

function serviceAccount(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: SYSTEM_NAMESPACE } };
}

function clusterGrant(name: string, account: string, rules: PolicyRule[]): [KubeObject, KubeObject] {
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: SYSTEM_NAMESPACE }],
    },
  ];
}

function namespaceGrant(name: string, account: string, rules: PolicyRule[]): KubeObject[] {
  const metadata = { name, namespace: SYSTEM_NAMESPACE };
  return [{ apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules }, roleBinding(metadata, 'Role', account)];
}

function roleBinding(metadata: { name: string; namespace: string }, kind: 'Role' | 'ClusterRole', account: string) {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: SYSTEM_NAMESPACE }],
  };
}
