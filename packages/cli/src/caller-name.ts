import { X509Certificate } from 'node:crypto';
import { clientCertificate } from '@asterism/client';
import { isForbidden, isNotFound, type KubeObject, type ResourceType } from '@asterism/machinery';
import type { Session } from './session.ts';

const SELF_SUBJECT_REVIEWS: ResourceType = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
};

/**
 * Who calls, in the words of the server. One of before Kubernetes 1.28 does not tell: then it is the name in the client
 * certificate, or nobody in particular.
 */
export async function callerName({ hub, connection }: Session): Promise<string> {
  try {
    const review: KubeObject = await hub.resource(SELF_SUBJECT_REVIEWS).create({});
    const { userInfo } = (review['status'] ?? {}) as { userInfo?: { username?: string } };
    if (userInfo?.username) return userInfo.username;
  } catch (error) {
    if (!isNotFound(error) && !isForbidden(error)) throw error;
  }
  const certificate = clientCertificate(connection.credential);
  return (certificate && commonName(certificate.cert)) ?? 'an administrator';
}

function commonName(certificate: string): string | undefined {
  const { CN } = new X509Certificate(certificate).toLegacyObject().subject as { CN?: string };
  return CN;
}
