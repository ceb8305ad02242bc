import { createPrivateKey, createPublicKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import type { KeyPair } from './certificate-authority.ts';

/** Why a private key cannot be used; undefined if it can. A key with a flipped bit may still be read, but signs nothing that fits. */
export function privateKeyFault(pem: string, publicKey?: KeyObject): string | undefined {
  try {
    const key = createPrivateKey(pem);
    const data = Buffer.from('is this the key?');
    const fits = verify('sha256', data, publicKey ?? createPublicKey(key), sign('sha256', data, key));
    return fits ? undefined : 'its private part does not fit its public part';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What is wrong with a certificate and its key, and with which of the two; undefined if they can be used. */
export function keyPairFault({ cert, key }: KeyPair, issuer: string): { of: 'cert' | 'key'; why: string } | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
    if (!certificate.verify(new X509Certificate(issuer).publicKey)) {
      return { of: 'cert', why: 'its signature does not fit' };
    }
  } catch (error) {
    return { of: 'cert', why: error instanceof Error ? error.message : String(error) };
  }
  const why = privateKeyFault(key, certificate.publicKey);
  return why === undefined ? undefined : { of: 'key', why };
}
