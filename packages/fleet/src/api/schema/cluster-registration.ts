import Type from 'typebox';
import { Conditions, PlacementFacts, placementFacts, SyncMode } from './parts.ts';

const asked = placementFacts({
  labels: 'Labels that the cluster asks for; used only if the hub accepts them',
  provider: 'Provider that the cluster asks for; used only if the hub accepts it',
  region: 'Region that the cluster asks for; used only if the hub accepts it',
  zones: 'Zones that the cluster asks for; used only if the hub accepts them',
});

export const ClusterRegistrationSpec = Type.Object({
  clusterId: Type.String({
    minLength: 1,
    maxLength: 63,
    description: "The uid of the cluster's kube-system namespace",
  }),
  clusterName: Type.String({
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    maxLength: 46,
    description: 'The name that the Cluster shall have',
  }),
  /**
   * The CertificateSigningRequest that the agent made beside this. Its `spec.username` and `groups` are set by the API
   * server, so they prove which token asks; its public key is the cluster's identity from then on.
   */
  certificateRequest: Type.String({
    minLength: 1,
    description: 'The CertificateSigningRequest that proves which token asks',
  }),
  syncMode: SyncMode,
  provider: asked.provider,
  region: asked.region,
  zones: asked.zones,
  labels: asked.labels,
  /** For a cluster that the hub dials (Push): where, and whom to trust. A private cluster leaves it out. */
  apiEndpoint: Type.Optional(
    Type.String({ pattern: '^https://', description: 'Push: where the hub finds the API server' }),
  ),
  caBundle: Type.Optional(Type.String({ description: 'PEM; by which the hub verifies that API server' })),
  agentVersion: Type.Optional(Type.String({ description: 'Of the agent that asks' })),
});

export const ClusterRegistrationStatus = Type.Object({
  /** Set by an administrator or a rule: agents cannot write it. */
  decision: Type.Optional(
    Type.Enum(['Approved', 'Denied'], {
      description: 'Set by an administrator or a rule; nothing is handed out before',
    }),
  ),
  decidedBy: Type.Optional(Type.String({ description: 'The person, token or rule that decided' })),
  requestedBy: Type.Optional(
    Type.String({ description: 'Whose credential the certificate request came with, as the API server says' }),
  ),
  publicKeyHash: Type.Optional(
    Type.String({ description: 'The key that asks: compare it with what the agent logs, before you approve' }),
  ),
  accepted: Type.Optional(
    Type.Object(PlacementFacts, {
      description: 'Labels, provider, region and zones that the administrator who approves gives to the Cluster',
    }),
  ),
  refused: Type.Optional(
    Type.Object(PlacementFacts, {
      description: 'Labels, provider, region and zones that the cluster asked for and did not get',
    }),
  ),
  message: Type.Optional(Type.String({ description: 'What became of the request, or what it waits for' })),
  clusterName: Type.Optional(Type.String({ description: 'The Cluster that was made' })),
  namespace: Type.Optional(Type.String({ description: 'The namespace in the hub that belongs to that cluster' })),
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  conditions: Type.Optional(Conditions),
});
