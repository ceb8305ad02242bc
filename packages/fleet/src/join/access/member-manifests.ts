import type { KubeObject, PolicyRule } from '@asterism/machinery';
import {
  AGENT_CREDENTIAL_SECRET,
  AGENT_SERVICE_ACCOUNT,
  CALLERS_ROLE,
  type Cluster,
  HUB_SERVICE_ACCOUNT,
  MADE_BY_JOIN,
  MADE_BY_LABEL,
  SYSTEM_NAMESPACE,
} from '../../api/index.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** What status and search need; `nonResourceURLs` are what every authenticated caller may read in most clusters anyway. */
const READ: PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
  {
    nonResourceURLs: ['/version', '/livez', '/livez/*', '/readyz', '/readyz/*', '/api', '/api/*', '/apis', '/apis/*'],
    verbs: ['get'],
  },
];

/** What an agent that only reports needs. */
const STATUS: PolicyRule[] = [
  { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
  { apiGroups: [''], resources: ['endpoints'], resourceNames: ['kubernetes'], verbs: ['get'] },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: ['kubeadm-config'], verbs: ['get'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: ['get', 'list', 'watch'] },
  READ[1]!,
];

/**
 * What is placed may be of any kind, so any kind may be written (`*` means subresources too) by whoever writes here. Not given
 * are the verbs by which one becomes more than one is: `bind`, `approve`, `sign`, and `escalate` but for one role.
 */
const WRITE: PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
];

/**
 * The proxy's callers come as themselves, and nobody else may be: whoever acts here keeps the ClusterRole `asterism:callers` as
 * the hub's RBAC says, and holds it. To write into a role more than one has takes `escalate`: on this role alone.
 */
const KEEP_CALLERS: PolicyRule = {
  apiGroups: [RBAC],
  resources: ['clusterroles'],
  resourceNames: [CALLERS_ROLE],
  verbs: ['escalate'],
};

/**
 * What stands in a member before its agent starts; applied by whoever installs the agent.
 *
 * `Push`: the agent reads what status needs and may make tokens of one service account, `asterism-hub`, with which the hub
 * reads, writes and comes as the proxy's callers. `Pull` and `Dual`: the agent does those itself, and the hub has no identity here.
 */
export function memberManifests({ syncMode }: { syncMode: Cluster['spec']['syncMode'] }): KubeObject[] {
  const push = syncMode === 'Push';
  const acting = [...READ, ...WRITE, KEEP_CALLERS];
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
    serviceAccount(AGENT_SERVICE_ACCOUNT),
    ...clusterGrant('asterism:agent', AGENT_SERVICE_ACCOUNT, push ? STATUS : acting),
    ...namespaceGrant('asterism:agent', AGENT_SERVICE_ACCOUNT, agentRules(push)),
    ...(push
      ? [serviceAccount(HUB_SERVICE_ACCOUNT), ...clusterGrant('asterism:hub', HUB_SERVICE_ACCOUNT, acting)]
      : []),
    // Without rules: the first that come are the hub's.
    ...clusterGrant(CALLERS_ROLE, push ? HUB_SERVICE_ACCOUNT : AGENT_SERVICE_ACCOUNT, []),
  ];
  return objects.map(madeByJoin);
}

/**
 * What stands in a member that has no agent: the account by which the hub reads, writes and comes as its callers there, and (as `create`
 * of any subresource) renews its own token.
 */
export function directManifests(): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
    serviceAccount(HUB_SERVICE_ACCOUNT),
    ...clusterGrant('asterism:hub', HUB_SERVICE_ACCOUNT, [...READ, ...WRITE, KEEP_CALLERS]),
    ...clusterGrant(CALLERS_ROLE, HUB_SERVICE_ACCOUNT, []),
  ].map(madeByJoin);
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
    ...(push
      ? [
          {
            apiGroups: [''],
            resources: ['serviceaccounts/token'],
            resourceNames: [HUB_SERVICE_ACCOUNT],
            verbs: ['create'],
          },
        ]
      : []),
  ];
}

function serviceAccount(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: SYSTEM_NAMESPACE } };
}

function clusterGrant(name: string, account: string, rules: PolicyRule[]): KubeObject[] {
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
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: SYSTEM_NAMESPACE }],
    },
  ];
}
