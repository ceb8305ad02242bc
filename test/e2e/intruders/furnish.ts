import type { Client } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  NAMESPACES,
  NODES,
  PODS,
  type PolicyRule,
  ROLE_BINDINGS,
  ROLES,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';

/** What nobody of the intruders may ever see. */
export const TREASURE = 'the-crown-jewels';
/** The namespace where it is, and the one that is the intruders' own. */
export const VAULT = 'vault';
export const MINE = 'mine';

const RBAC = 'rbac.authorization.k8s.io';

/** Everything in their own namespace, roles and bindings as well: with nothing that they could give away but that. */
const OWN: PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets', 'configmaps', 'pods'], verbs: ['*'] },
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get', 'list', 'create', 'delete'] },
  {
    apiGroups: [RBAC],
    resources: ['roles', 'rolebindings'],
    verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
  },
];

/** In the whole cluster. */
const EVERYWHERE: PolicyRule[] = [
  {
    apiGroups: [RBAC],
    resources: ['clusterroles', 'clusterrolebindings'],
    verbs: ['get', 'create', 'update', 'patch'],
  },
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get', 'update'] },
];

/** Puts a treasure into a server, and gives the group `insiders` and some users rights that must not lead to it. */
export async function furnish(client: Client, users: readonly string[]): Promise<void> {
  for (const name of [VAULT, MINE]) {
    await client.resource(NAMESPACES).create({ metadata: { name } });
    await client.resource(SERVICE_ACCOUNTS).create({ metadata: { name: 'default', namespace: name } });
  }
  await client
    .resource(SECRETS)
    .create({ metadata: { name: 'treasure', namespace: VAULT }, stringData: { value: TREASURE } });
  await client.resource(SECRETS).create({ metadata: { name: 'own', namespace: MINE }, stringData: { value: 'own' } });
  await client.resource(CONFIG_MAPS).create({ metadata: { name: 'map', namespace: VAULT }, data: { value: TREASURE } });
  await client.resource(SERVICE_ACCOUNTS).create({ metadata: { name: 'keeper', namespace: VAULT } });
  await client.resource(SERVICE_ACCOUNTS).create({ metadata: { name: 'insider', namespace: MINE } });
  for (const name of ['n1', 'n2']) await client.resource(NODES).create({ metadata: { name } });
  await client.resource(PODS).create(guard());
  await client.resource(ROLES).create({ metadata: { name: 'own', namespace: MINE }, rules: OWN });
  await client.resource(CLUSTER_ROLES).create({ metadata: { name: 'own' }, rules: OWN });
  await client.resource(CLUSTER_ROLES).create({ metadata: { name: 'writers' }, rules: EVERYWHERE });
  const subjects = [
    { apiGroup: RBAC, kind: 'Group', name: 'insiders' },
    ...users.map((name) => ({ apiGroup: RBAC, kind: 'User', name })),
  ];
  const own = { apiGroup: RBAC, kind: 'ClusterRole', name: 'own' };
  await client.resource(ROLE_BINDINGS).create({ metadata: { name: 'own', namespace: MINE }, roleRef: own, subjects });
  const writers = { apiGroup: RBAC, kind: 'ClusterRole', name: 'writers' };
  await client.resource(CLUSTER_ROLE_BINDINGS).create({ metadata: { name: 'writers' }, roleRef: writers, subjects });
  await client.resource(CLUSTER_ROLES).create({
    metadata: { name: 'impersonators' },
    rules: [{ apiGroups: [''], resources: ['users'], resourceNames: ['mallory'], verbs: ['impersonate'] }],
  });
  await client.resource(CLUSTER_ROLE_BINDINGS).create({
    metadata: { name: 'impersonators' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'impersonators' },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: 'impersonator' }],
  });
}

/** A pod beside the treasure, on the node n2. */
function guard(): object {
  return {
    metadata: { name: 'guard', namespace: VAULT },
    spec: {
      nodeName: 'n2',
      serviceAccountName: 'keeper',
      containers: [{ name: 'c', image: 'registry.example/guard:1' }],
      volumes: [{ name: 'v', secret: { secretName: 'treasure' } }],
    },
  };
}
