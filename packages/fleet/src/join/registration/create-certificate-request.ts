import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { der, derObjectIdentifier, TAG } from './der.ts';

/** A new P-256 private key, PEM (PKCS#8). */
export function createAgentKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

/**
 * A PKCS#10 request (RFC 2986) for a client certificate, PEM, signed with `key` (P-256). Made by hand, because an agent that
 * needs one in its life should not carry an X.509 library for it (25 MB).
 */
export function createCertificateRequest(
  key: string,
  { commonName, organizations }: { commonName: string; organizations: readonly string[] },
): string {
  const privateKey = createPrivateKey(key);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const info = der(
    TAG.sequence,
    der(TAG.integer, Buffer.from([0])),
    der(TAG.sequence, ...organizations.map((each) => name('2.5.4.10', each)), name('2.5.4.3', commonName)),
    publicKey,
    der(TAG.context0),
  );
  const request = der(
    TAG.sequence,
    info,
    der(TAG.sequence, derObjectIdentifier('1.2.840.10045.4.3.2')),
    der(TAG.bitString, Buffer.from([0]), sign('sha256', info, privateKey)),
  );
  const lines = request.toString('base64').match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
}

function name(type: string, value: string): Buffer {
  return der(TAG.set, der(TAG.sequence, derObjectIdentifier(type), der(TAG.utf8String, Buffer.from(value))));
}
