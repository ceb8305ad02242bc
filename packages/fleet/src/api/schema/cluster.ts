import Type from 'typebox';
import { Conditions, ResourceList, SyncMode, Taint } from './parts.ts';

/** Which resources of a cluster stand in the search store. `*` is every one of the group, or every group. */
const IndexRule = Type.Object({
  group: Type.String({ description: 'API group; empty for the core, * for every group' }),
  versions: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The first that the cluster serves is kept; default: the one it prefers',
    }),
  ),
  resources: Type.Array(Type.String(), {
    minItems: 1,
    description: 'Plural names, or *, which never means Secrets, Events or Leases',
  }),
  namespaces: Type.Optional(Type.Array(Type.String(), { description: 'Only objects in these' })),
});

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
});

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
  index: Type.Optional(
    Type.Array(IndexRule, {
      description:
        'What search keeps of the cluster; rules add up, [] keeps nothing, and none is what the hub sets when it joins',
    }),
  ),
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

export const ClusterStatus = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  conditions: Type.Optional(Conditions),
  kubernetesVersion: Type.Optional(Type.String({ description: 'Of its API server' })),
  platform: Type.Optional(Type.String({ description: 'As the API server tells, linux/amd64' })),
  agentVersion: Type.Optional(Type.String({ description: 'Of the agent that reports' })),
  nodes: Type.Optional(
    Type.Object({ total: Type.Integer(), ready: Type.Integer() }, { description: 'How many there are, and are Ready' }),
  ),
  resources: Type.Optional(
    Type.Object(
      {
        capacity: Type.Optional(ResourceList),
        allocatable: Type.Optional(ResourceList),
        allocated: Type.Optional(ResourceList),
      },
      { description: 'Sums over the nodes, and over what the pods on them request' },
    ),
  ),
  podCIDRs: Type.Optional(Type.Array(Type.String(), { description: 'Address ranges of its pods' })),
  serviceCIDRs: Type.Optional(Type.Array(Type.String(), { description: 'Address ranges of its Services' })),
  apis: Type.Optional(
    Type.Array(ServedApi, { description: 'What it serves: a template of another kind is not placed there' }),
  ),
});
