import { createHash } from 'node:crypto';
import type { ClusterRegistration } from '../../api/index.ts';

/**
 * What ties a CertificateSigningRequest to the one registration that it was made for. The API server lets nobody but the
 * requester set the annotation that carries it, so another token's registration cannot borrow the request of an approved
 * one and put its own address or labels beside it.
 */
export function registrationDigest(spec: ClusterRegistration['spec']): string {
  const content = [
    spec.clusterId,
    spec.clusterName,
    spec.certificateRequest,
    spec.syncMode,
    spec.provider ?? '',
    spec.region ?? '',
    spec.zones ?? [],
    Object.entries(spec.labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)),
    spec.apiEndpoint ?? '',
    spec.caBundle ?? '',
  ];
  return `sha256:${createHash('sha256').update(JSON.stringify(content)).digest('hex')}`;
}
