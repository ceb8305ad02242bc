import type {
  ClusterRole,
  ClusterRoleBinding,
  Lease,
  Namespace,
  ObjectMeta,
  PolicyRule,
  Role,
  RoleBinding,
  Secret,
} from '@asterism/machinery';
import {
  API_VERSION,
  agentKeyGroup,
  CALLERS_CONFIG_MAP,
  type Cluster,
  CLUSTER_LABEL,
  CREDENTIAL_SECRET,
  clusterNamespace,
  GROUP,
  HEARTBEAT_LEASE,
  PROXY_GROUP,
} from '../../api/index.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** What a cluster has in the hub beside itself. All of it is owned by the Cluster and goes with it. */
export interface ClusterAccess {
  namespace: Namespace;
  /** Renewed by the agent: made here, so that the agent needs no right to create any. */
  lease: Lease;
  /** For a cluster that the hub dials; filled by the agent, for the same reason. */
  credential: Secret | undefined;
  role: Role;
  roleBinding: RoleBinding;
  clusterRole: ClusterRole;
  clusterRoleBinding: ClusterRoleBinding;
}

/**
 * The least that an agent needs: to read its Works and report on them, to say that it is alive and how its cluster is, to open
 * its own tunnel, to ask for its next certificate, and (Push) to hand the hub a credential that it cannot read back. It may create
 * nothing else. Whoever holds the key
 * that the Cluster is bound to is its agent, whatever name his certificate says.
 */
export function clusterAccess(cluster: Cluster): ClusterAccess {
  const name = cluster.metadata.name ?? '';
  const namespace = clusterNamespace(name);
  const direct = cluster.spec.connection.type === 'Direct';
  const meta = (object: { name: string; namespace?: string }): ObjectMeta => ({
    ...object,
    labels: { [CLUSTER_LABEL]: name },
    ownerReferences: [ownerOf(cluster)],
  });
  const agentRole = `asterism:agent:${name}`;
  const { publicKeyHash } = cluster.spec;
  // Of a Cluster that no agent ever joined, or whose key was taken away, nobody is the agent.
  const subjects =
    publicKeyHash === undefined ? [] : [{ kind: 'Group', apiGroup: RBAC, name: agentKeyGroup(publicKeyHash) }];
  return {
    namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: meta({ name: namespace }) },
    lease: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: meta({ name: HEARTBEAT_LEASE, namespace }),
    },
    credential: direct
      ? { apiVersion: 'v1', kind: 'Secret', metadata: meta({ name: CREDENTIAL_SECRET, namespace }), type: 'Opaque' }
      : undefined,
    role: {
      apiVersion: `${RBAC}/v1`,
      kind: 'Role',
      metadata: meta({ name: 'asterism:agent', namespace }),
      rules: namespaceRules(direct),
    },
    roleBinding: {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: meta({ name: 'asterism:agent', namespace }),
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'asterism:agent' },
      subjects,
    },
    clusterRole: {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: meta({ name: agentRole }),
      rules: clusterRules(name),
    },
    clusterRoleBinding: {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: meta({ name: agentRole }),
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: agentRole },
      subjects,
    },
  };
}

function namespaceRules(direct: boolean): PolicyRule[] {
  return [
    { apiGroups: [GROUP], resources: ['works'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [GROUP], resources: ['works/status'], verbs: ['get', 'patch', 'update'] },
    {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [CALLERS_CONFIG_MAP],
      verbs: ['get', 'list', 'watch'],
    },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: [HEARTBEAT_LEASE],
      verbs: ['get', 'patch', 'update'],
    },
    ...(direct
      ? [{ apiGroups: [''], resources: ['secrets'], resourceNames: [CREDENTIAL_SECRET], verbs: ['patch'] }]
      : []),
  ];
}

function clusterRules(name: string): PolicyRule[] {
  return [
    { apiGroups: [GROUP], resources: ['clusters'], resourceNames: [name], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [GROUP], resources: ['clusters/status'], resourceNames: [name], verbs: ['get', 'patch', 'update'] },
    { apiGroups: [PROXY_GROUP], resources: ['clusters/attach'], resourceNames: [name], verbs: ['create', 'get'] },
    // To renew its certificate. What comes of a request is the hub's to say, and no name but the agent's own is let through.
    { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
  ];
}

function ownerOf(cluster: Cluster) {
  const { name = '', uid = '' } = cluster.metadata;
  return { apiVersion: API_VERSION, kind: 'Cluster', name, uid, controller: true, blockOwnerDeletion: false };
}
