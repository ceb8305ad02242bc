import Type from 'typebox';
import { Conditions, ResourceList, SyncMode, Taint } from './parts.ts';

/** Which resources of a cluster stand in the search store. `*` is every one of the group, or every group. */
const IndexRule = Type.Object({
  group: Type.String(),
  versions: Type.Optional(Type.Array(Type.String())),
  resources: Type.Array(Type.String(), { minItems: 1 }),
  namespaces: Type.Optional(Type.Array(Type.String())),
});

/** How the hub reaches the cluster's API server. `Tunnel`: only through the agent; no address is held. */
const Connection = Type.Object({
  type: Type.Enum(['Direct', 'Tunnel']),
  apiEndpoint: Type.Optional(Type.String({ pattern: '^https://' })),
  caBundle: Type.Optional(Type.String({ description: 'PEM; the API server is verified against it alone' })),
  tlsServerName: Type.Optional(Type.String()),
  secretRef: Type.Optional(Type.Object({ name: Type.String({ minLength: 1 }) })),
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
  provider: Type.Optional(Type.String()),
  region: Type.Optional(Type.String()),
  zones: Type.Optional(Type.Array(Type.String())),
  connection: Connection,
  taints: Type.Optional(Type.Array(Taint)),
  index: Type.Optional(Type.Array(IndexRule)),
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
  kubernetesVersion: Type.Optional(Type.String()),
  platform: Type.Optional(Type.String()),
  agentVersion: Type.Optional(Type.String()),
  nodes: Type.Optional(Type.Object({ total: Type.Integer(), ready: Type.Integer() })),
  resources: Type.Optional(
    Type.Object({
      capacity: Type.Optional(ResourceList),
      allocatable: Type.Optional(ResourceList),
      allocated: Type.Optional(ResourceList),
    }),
  ),
  podCIDRs: Type.Optional(Type.Array(Type.String())),
  serviceCIDRs: Type.Optional(Type.Array(Type.String())),
  apis: Type.Optional(Type.Array(ServedApi)),
});
