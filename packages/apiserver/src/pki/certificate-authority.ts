import { wallNow } from '@asterism/client';
import { importSigningKeys, newPrivateKey, newSerialNumber } from './keys.ts';
import { loadX509 } from './x509.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates begin a little in the past, so that a peer whose clock is behind accepts them at once. */
export const BACKDATE_MS = 5 * 60 * 1000;

/** A certificate with its private key, both PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** A new self-signed P-256 authority. It signs leaf certificates only (path length 0). `days` default 3650. */
export async function createCertificateAuthority(options: {
  commonName: string;
  days?: number;
  now?: number;
}): Promise<KeyPair> {
  const x509 = await loadX509();
  const key = newPrivateKey();
  const keys = importSigningKeys(key);
  const now = options.now ?? wallNow();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    name: [{ CN: [options.commonName] }],
    notBefore: new Date(now - BACKDATE_MS),
    notAfter: new Date(now + (options.days ?? 3650) * DAY_MS),
    keys,
    signingAlgorithm: keys.algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: `${certificate.toString('pem')}\n`, key };
}
