import Type from 'typebox';
import { Conditions, IndexRule, ResourceList, SearchShare, StringMap, SyncMode, Taint } from './parts.ts';

/** Which resources of a cluster stand in the search store. `*` is every one of the group, or every group. */
/** How the hub reaches the cluster's API server. `Tunnel`: only through the agent; no address is held. */
const Connection = Type.Object({
  type: Type.Enum(['Direct', 'Tunnel'], { description: 'Tunnel: only through the agent; no address is held' }),
  apiEndpoint: Type.Optional(Type.String({ pattern: '^https://', description: 'Direct: where the API server is' })),
  caBundle: Type.Optional(Type.String({ description: 'PEM; the API server is verified against it alone' })),
  tlsServerName: Type.Optional(
    Type.String({ description: "The name in the API server's certificate, where it is not the address" }),
  ),
  secretRef: Type.Optional(
    Type.Object(
      { name: Type.String({ minLength: 1 }) },
      { description: "The Secret with the hub's credential, in the cluster's namespace" },
    ),
  ),
});

/** What the hub's callers may do through `clusters/NAME/proxy`, before the member's own RBAC is asked. */
const Reach = Type.Object({
  mode: Type.Optional(
    Type.Enum(['impersonate', 'readonly', 'off'], {
      description:
        "impersonate (default): what the member's RBAC allows the caller; readonly: no more than reading of that; off: nothing",
    }),
  ),
  groups: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description:
        "Groups that callers bring along, beside those to which the hub's RBAC gives clusters/proxy of this cluster; never system:*",
    }),
  ),
});

/** A name of a namespace, or a prefix that ends in `*`. */
const NamespacePattern = Type.String({ pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?|[-a-z0-9]*\\*)$', maxLength: 64 });

const AcceptedPlacements = Type.Object(
  {
    acceptNamespaces: Type.Optional(
      Type.Array(NamespacePattern, {
        maxItems: 1000,
        description:
          'Namespaces of the hub whose templates the cluster accepts, such as team-a or team-*. Default: every namespace. The hub removes what it has placed here from other namespaces',
      }),
    ),
  },
  { description: 'Limits what any policy may place in the cluster' },
);

export const ClusterSpec = Type.Object({
  id: Type.String({ minLength: 1, description: "The uid of the cluster's kube-system namespace" }),
  publicKeyHash: Type.Optional(
    Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      description: 'Of the key that the cluster joined with: who claims its id again must hold the same key',
    }),
  ),
  syncMode: SyncMode,
  provider: Type.Optional(Type.String({ description: 'Who runs the cluster; a field that policies can select by' })),
  region: Type.Optional(Type.String({ description: 'Where it is; likewise' })),
  zones: Type.Optional(Type.Array(Type.String(), { description: 'Zones of that region; likewise' })),
  connection: Connection,
  reach: Type.Optional(Reach),
  taints: Type.Optional(Type.Array(Taint, { description: 'Keep away templates whose policy does not tolerate them' })),
  placement: Type.Optional(AcceptedPlacements),
  index: Type.Optional(
    Type.Array(IndexRule, {
      description:
        'What search keeps of the cluster; rules add up, [] keeps nothing, and none is what the hub sets when it joins',
    }),
  ),
  searchShare: Type.Optional({
    ...SearchShare,
    description:
      'How much search keeps of the cluster, in place of the default of the HubConfiguration. The condition SearchWithinShare is ' +
      'False when the cluster has more',
  }),
});

const ServedApi = Type.Object({
  groupVersion: Type.String(),
  resources: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.String(),
      namespaced: Type.Boolean(),
    }),
  ),
});

const Probe = Type.Object({
  ok: Type.Boolean(),
  failing: Type.Optional(Type.Array(Type.String(), { description: 'The checks that fail, by name: etcd' })),
  message: Type.Optional(Type.String({ description: 'What it answered, where that was not ok' })),
});

const ApiServer = Type.Object(
  {
    addresses: Type.Optional(Type.Array(Type.String(), { description: 'host:port, as seen from within the cluster' })),
    livez: Type.Optional(Probe),
    readyz: Type.Optional(Probe),
  },
  { description: 'What the API server says of itself, and where it is' },
);

/** A summary of the nodes that work can go to: grades of what is free on them, by pools of nodes that are alike to a scheduler. */
const NodeCapacity = Type.Object(
  {
    resources: Type.Array(Type.String(), {
      maxItems: 16,
      description: 'What the figures of `free` stand for, in this order',
    }),
    labels: Type.Optional({ ...StringMap, description: 'That all these nodes have in common' }),
    unlistedLabels: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 65,
        description: 'Keys of labels that differ too much to be told; * stands for more',
      }),
    ),
    pools: Type.Array(
      Type.Object({
        labels: Type.Optional({ ...StringMap, description: 'That its nodes have beside those of all' }),
        taints: Type.Optional(Type.Array(Taint, { description: 'That keep pods away' })),
        nodes: Type.Integer({ minimum: 1, description: 'How many' }),
        grades: Type.Array(
          Type.Object({
            nodes: Type.Integer({ minimum: 1, description: 'How many have at least so much' }),
            free: Type.Array(Type.Integer({ minimum: 0, format: 'int64' }), {
              maxItems: 16,
              description: 'Thousandths of cpu, whole units of all else: the least on any of these nodes',
            }),
          }),
          { maxItems: 64 },
        ),
      }),
      { maxItems: 16 },
    ),
  },
  { description: 'How much is free on how many nodes: at most 64 grades, whatever the number of nodes' },
);

export const ClusterStatus = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  conditions: Type.Optional(Conditions),
  kubernetesVersion: Type.Optional(Type.String({ description: 'Of its API server' })),
  platform: Type.Optional(Type.String({ description: 'As the API server tells, linux/amd64' })),
  agentVersion: Type.Optional(Type.String({ description: 'Of the agent that reports' })),
  glance: Type.Optional(
    Type.Object(
      {
        nodes: Type.Optional(Type.String({ description: 'Ready, and all: 3/4' })),
        freeCPU: Type.Optional(Type.String({ description: 'Free cores on the nodes that work can go to' })),
        freeMemory: Type.Optional(Type.String({ description: 'Likewise' })),
      },
      { description: 'The short of it, for columns' },
    ),
  ),
  apiServer: Type.Optional(ApiServer),
  permissions: Type.Optional(
    Type.Object(
      {
        profile: Type.Enum(['workloads', 'platform', 'full'], {
          description: 'Profile that the cluster was joined with: aster join --permissions',
        }),
        namespaces: Type.Optional(
          Type.Array(Type.String({ maxLength: 63 }), {
            maxItems: 1000,
            description: 'Profile workloads: the namespaces that the account may write',
          }),
        ),
        missing: Type.Optional(
          Type.Array(Type.String({ maxLength: 320 }), {
            maxItems: 32,
            description: 'Rights of the profile that the account does not have',
          }),
        ),
        excess: Type.Optional(
          Type.Array(Type.String({ maxLength: 320 }), {
            maxItems: 32,
            description: 'Rights that the account has and the profile does not include',
          }),
        ),
      },
      { description: 'Rights of the account by which Asterism writes to the cluster' },
    ),
  ),
  tunnel: Type.Optional(
    Type.Object(
      { roundTripMilliseconds: Type.Integer() },
      { description: 'As its agent measures it; absent without a tunnel' },
    ),
  ),
  nodes: Type.Optional(
    Type.Object(
      {
        total: Type.Integer(),
        ready: Type.Integer(),
        notReady: Type.Optional(Type.Integer()),
        schedulable: Type.Optional(Type.Integer({ description: 'Ready and not cordoned: those that work can go to' })),
      },
      { description: 'How many there are, and are Ready' },
    ),
  ),
  pods: Type.Optional(
    Type.Object(
      {
        running: Type.Integer(),
        pending: Type.Integer(),
        max: Type.Optional(Type.Integer({ description: 'How many the nodes that work can go to may hold' })),
      },
      { description: 'How many there are, by phase' },
    ),
  ),
  resources: Type.Optional(
    Type.Object(
      {
        capacity: Type.Optional({ ...ResourceList, description: 'Of all nodes' }),
        allocatable: Type.Optional({ ...ResourceList, description: 'Of the nodes that work can go to' }),
        allocated: Type.Optional({ ...ResourceList, description: 'What the pods on those nodes request' }),
        requested: Type.Optional({
          ...ResourceList,
          description: 'What all pods request that have not ended, also those that wait for a node',
        }),
      },
      { description: 'Sums over the nodes, and over what pods request' },
    ),
  ),
  nodeCapacity: Type.Optional(NodeCapacity),
  podCIDRs: Type.Optional(Type.Array(Type.String(), { description: 'Address ranges of its pods' })),
  serviceCIDRs: Type.Optional(Type.Array(Type.String(), { description: 'Address ranges of its Services' })),
  apis: Type.Optional(
    Type.Array(ServedApi, { description: 'What it serves: a template of another kind is not placed there' }),
  ),
});
