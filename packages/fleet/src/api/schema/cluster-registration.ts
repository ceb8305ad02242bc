import Type from 'typebox';
import { Conditions, StringMap, SyncMode } from './parts.ts';

export const ClusterRegistrationSpec = Type.Object({
  clusterId: Type.String({ minLength: 1, maxLength: 63 }),
  clusterName: Type.String({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 46 }),
  /**
   * The CertificateSigningRequest that the agent made beside this. Its `spec.username` and `groups` are set by the API
   * server, so they prove which token asks; its public key is the cluster's identity from then on.
   */
  certificateRequest: Type.String({ minLength: 1 }),
  syncMode: SyncMode,
  provider: Type.Optional(Type.String()),
  region: Type.Optional(Type.String()),
  zones: Type.Optional(Type.Array(Type.String())),
  labels: Type.Optional(StringMap),
  /** For a cluster that the hub dials (Push): where, and whom to trust. A private cluster leaves it out. */
  apiEndpoint: Type.Optional(Type.String({ pattern: '^https://' })),
  caBundle: Type.Optional(Type.String()),
  agentVersion: Type.Optional(Type.String()),
});

export const ClusterRegistrationStatus = Type.Object({
  /** Set by an administrator or a rule: agents cannot write it. */
  decision: Type.Optional(Type.Enum(['Approved', 'Denied'])),
  decidedBy: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  clusterName: Type.Optional(Type.String()),
  namespace: Type.Optional(Type.String()),
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  conditions: Type.Optional(Conditions),
});
