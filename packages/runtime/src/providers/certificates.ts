import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ClientError, clientCertificate, type Connection } from '@asterism/client';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Throws a `ClientError` (`ERR_CERTIFICATE`) where a connection's certificates could never work: no cluster is engaged that
 * nobody could reach, and a bad renewal replaces nothing.
 */
export function checkCertificates({ caData, credential }: Connection): void {
  if (caData !== undefined && fingerprints(caData).size === 0) {
    throw unusable('the certificate authority is not a certificate in PEM');
  }
  const certificate = clientCertificate(credential);
  if (certificate === undefined) return;
  try {
    createSecureContext({ ...certificate });
  } catch (cause) {
    throw unusable(`the client certificate and its key cannot be used: ${(cause as Error).message}`);
  }
}

/** Of every certificate in a PEM text; throws a `ClientError` when one cannot be read. */
export function fingerprints(pem: string): Set<string> {
  try {
    return new Set((pem.match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text).fingerprint256));
  } catch (cause) {
    throw unusable(`the certificate authority cannot be read: ${(cause as Error).message}`);
  }
}

function unusable(message: string): ClientError {
  return new ClientError(message, { code: 'ERR_CERTIFICATE' });
}
