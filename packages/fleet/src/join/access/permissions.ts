import type { PolicyRule } from '@asterism/machinery';
import {
  AGENT_SERVICE_ACCOUNT,
  CALLERS_ROLE,
  type Cluster,
  HUB_SERVICE_ACCOUNT,
  SYSTEM_NAMESPACE,
} from '../../api/index.ts';
import { DEFAULT_INDEX } from '../registration/cluster-of-registration.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** How much the account that acts in a member may do there. See docs/reference/permission-profiles.md. */
export const PERMISSION_PROFILES = ['workloads', 'platform', 'full'] as const;
export type PermissionProfile = (typeof PERMISSION_PROFILES)[number];
export const DEFAULT_PROFILE: PermissionProfile = 'platform';

export const isPermissionProfile = (text: unknown): text is PermissionProfile =>
  PERMISSION_PROFILES.some((profile) => profile === text);

export interface Permissions {
  profile: PermissionProfile;
  /** `workloads`: the namespaces that the account may write. Default: `default` alone. */
  namespaces?: readonly string[] | undefined;
  /** `workloads`: as whom the hub's callers may act in the member. Default: nobody. */
  callers?: { users: readonly string[]; groups: readonly string[] } | undefined;
}

/** On the ClusterRole of the account that acts in a member: its profile, and the namespaces that it may write. */
export const PERMISSIONS_ANNOTATION = 'asterism.dev/permissions';
export const PERMISSION_NAMESPACES_ANNOTATION = 'asterism.dev/permission-namespaces';

/** The ClusterRole that each namespace of the profile `workloads` binds. */
export const WORKLOADS_ROLE = 'asterism:workloads';

/** Where the account acts in a member: the agent in Pull and Dual, the hub in Push. */
export function actingAccount(syncMode: Cluster['spec']['syncMode']): { name: string; clusterRole: string } {
  return syncMode === 'Push'
    ? { name: HUB_SERVICE_ACCOUNT, clusterRole: 'asterism:hub' }
    : { name: AGENT_SERVICE_ACCOUNT, clusterRole: 'asterism:agent' };
}

/** A pod in one of these can act as the accounts of the cluster's own controllers, so `workloads` never includes them. */
export function isSystemNamespace(name: string): boolean {
  return name.startsWith('kube-') || name === SYSTEM_NAMESPACE;
}

const ANY_READ: PolicyRule = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] };

/** Every authenticated caller may read these in most clusters. */
export const READ_SERVER: PolicyRule = {
  nonResourceURLs: ['/version', '/livez', '/livez/*', '/readyz', '/readyz/*', '/api', '/api/*', '/apis', '/apis/*'],
  verbs: ['get'],
};

const ANY_WRITE: PolicyRule = {
  apiGroups: ['*'],
  resources: ['*'],
  verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
};

/** Roles may hold rights that the account itself does not have: `/metrics`, `*`. This makes the account an administrator in fact. */
const ANY_ROLE: PolicyRule = {
  apiGroups: [RBAC],
  resources: ['clusterroles', 'roles'],
  verbs: ['escalate', 'bind'],
};

const EVERYTHING: PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

/** The kinds that the profile `workloads` writes, by API group. */
export const WORKLOAD_KINDS: readonly { group: string; resources: readonly string[] }[] = [
  {
    group: '',
    resources: [
      'configmaps',
      'persistentvolumeclaims',
      'pods',
      'podtemplates',
      'replicationcontrollers',
      'secrets',
      'serviceaccounts',
      'services',
    ],
  },
  { group: 'apps', resources: ['daemonsets', 'deployments', 'replicasets', 'statefulsets'] },
  { group: 'autoscaling', resources: ['horizontalpodautoscalers'] },
  { group: 'batch', resources: ['cronjobs', 'jobs'] },
  { group: 'networking.k8s.io', resources: ['ingresses', 'networkpolicies'] },
  { group: 'policy', resources: ['poddisruptionbudgets'] },
];

/** What `workloads` reads in the whole cluster: the kinds of search's default index and of the status. Never Secrets. */
function readForStatusAndSearch(): PolicyRule[] {
  const verbs = ['get', 'list', 'watch'];
  const rules = [...DEFAULT_INDEX, ...WORKLOAD_KINDS.map(({ group, resources }) => ({ group, resources }))];
  const groups = [...new Set(rules.map(({ group }) => group))];
  return [
    ...groups.map((group) => ({
      apiGroups: [group],
      resources: [...new Set(rules.filter((rule) => rule.group === group).flatMap(({ resources }) => resources))]
        .filter((resource) => resource !== 'secrets')
        .sort(),
      verbs,
    })),
    { apiGroups: [''], resources: ['events'], verbs },
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs },
    { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs },
    READ_SERVER,
  ];
}

/**
 * To take the join out again, the account hangs everything on its own binding. Without `escalate` it cannot write any rule into
 * these roles that it does not hold.
 */
function takeOutRules(): PolicyRule[] {
  const verbs = ['patch', 'delete'];
  const names = ['asterism:agent', 'asterism:hub', CALLERS_ROLE, WORKLOADS_ROLE];
  return [
    { apiGroups: [RBAC], resources: ['clusterroles', 'clusterrolebindings'], resourceNames: names, verbs },
    { apiGroups: [''], resources: ['namespaces'], resourceNames: [SYSTEM_NAMESPACE], verbs },
  ];
}

/** What `workloads` may do in `asterism-system`: see what a join made there, and take it out. */
export const TAKE_OUT_IN_SYSTEM_NAMESPACE: readonly PolicyRule[] = [
  {
    apiGroups: [''],
    resources: ['configmaps', 'secrets', 'serviceaccounts', 'services'],
    verbs: ['get', 'list', 'patch', 'delete'],
  },
  {
    apiGroups: ['apps'],
    resources: ['daemonsets', 'deployments', 'statefulsets'],
    verbs: ['get', 'list', 'patch', 'delete'],
  },
  { apiGroups: [RBAC], resources: ['roles', 'rolebindings'], verbs: ['get', 'list', 'patch', 'delete'] },
];

/** The rules for the whole cluster of the account that acts there. */
export function clusterRulesOf(profile: PermissionProfile): PolicyRule[] {
  switch (profile) {
    case 'workloads':
      return [...readForStatusAndSearch(), ...takeOutRules()];
    case 'platform':
      return [ANY_READ, READ_SERVER, ANY_WRITE, ANY_ROLE];
    case 'full':
      return EVERYTHING;
  }
}

/** The rules of {@link WORKLOADS_ROLE}, which each listed namespace binds. */
export function workloadRules(): PolicyRule[] {
  return [
    ...WORKLOAD_KINDS.map(({ group, resources }) => ({
      apiGroups: [group],
      resources: [...resources],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    })),
    { apiGroups: [RBAC], resources: ['rolebindings'], resourceNames: [WORKLOADS_ROLE], verbs: ['patch', 'delete'] },
  ];
}

/** The namespaces that `workloads` may write, in order and without those of the system. */
export function permittedNamespaces({ profile, namespaces = ['default'] }: Permissions): string[] {
  return profile === 'workloads' ? [...new Set(namespaces)].filter((name) => !isSystemNamespace(name)).sort() : [];
}

export function permissionAnnotations(permissions: Permissions): Record<string, string> {
  const namespaces = permittedNamespaces(permissions);
  return {
    [PERMISSIONS_ANNOTATION]: permissions.profile,
    ...(permissions.profile === 'workloads' ? { [PERMISSION_NAMESPACES_ANNOTATION]: namespaces.join(',') } : {}),
  };
}

/** The inverse of {@link permissionAnnotations}; undefined where an earlier release, or no join, made the account. */
export function readPermissions(annotations: Readonly<Record<string, string>> = {}): Permissions | undefined {
  const profile = annotations[PERMISSIONS_ANNOTATION];
  if (!isPermissionProfile(profile)) return undefined;
  if (profile !== 'workloads') return { profile };
  const namespaces = (annotations[PERMISSION_NAMESPACES_ANNOTATION] ?? '').split(',').filter((name) => name !== '');
  return { profile, namespaces };
}
