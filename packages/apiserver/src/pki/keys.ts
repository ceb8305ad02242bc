import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, type webcrypto } from 'node:crypto';

/** A new P-256 private key, PEM (PKCS#8). */
export function newPrivateKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

export interface SigningKeys {
  privateKey: webcrypto.CryptoKey;
  publicKey: webcrypto.CryptoKey;
  algorithm: { name: string; hash: string; namedCurve?: string };
}

const P256 = { hash: 'SHA-256', namedCurve: 'P-256' };
/** By OpenSSL's name of the curve, with the hash that Go's `CreateCertificate` takes for it. */
const CURVES: Record<string, { hash: string; namedCurve: string }> = {
  prime256v1: P256,
  secp384r1: { hash: 'SHA-384', namedCurve: 'P-384' },
  secp521r1: { hash: 'SHA-512', namedCurve: 'P-521' },
};

/** A PEM private key (EC P-256, P-384, P-521, or RSA as older authorities have) in the form that the X.509 library signs with. */
export function importSigningKeys(pem: string): SigningKeys {
  const key = createPrivateKey(pem);
  const algorithm =
    key.asymmetricKeyType === 'rsa'
      ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
      : { name: 'ECDSA', ...(CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? P256) };
  return {
    privateKey: key.toCryptoKey(algorithm, true, ['sign']),
    publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
    algorithm,
  };
}

/** 127 random bits in hex: positive, as RFC 5280 4.1.2.2 asks of a serial number. */
export function newSerialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x01;
  return bytes.toString('hex');
}
