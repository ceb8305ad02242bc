import { createPrivateKey, X509Certificate } from 'node:crypto';

import { pemBlocks } from '../pem/pem-blocks.ts';

/**
 * Why a certificate and a key are no pair, in the words of Go's `tls.X509KeyPair`; undefined where they are one. Of texts that
 * cannot be parsed the words differ from Go's.
 */
export function keyPairWarning(certificate: string, key: string): string | undefined {
  const certificateTypes = typesOf(certificate);
  const keyTypes = typesOf(key);
  if (!certificateTypes.includes('CERTIFICATE')) return missing('certificate', 'CERTIFICATE', certificateTypes);
  if (!keyTypes.some(isPrivateKey)) return missing('key', '', keyTypes);
  try {
    const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    return isPair ? undefined : 'tls: private key does not match public key';
  } catch {
    return 'tls: failed to parse private key';
  }
}

function typesOf(text: string): string[] {
  return pemBlocks(text).map(({ type }) => type);
}

function isPrivateKey(type: string): boolean {
  return type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');
}

function missing(what: 'certificate' | 'key', wanted: string, found: readonly string[]): string {
  if (found.length === 0) return `tls: failed to find any PEM data in ${what} input`;
  const list = `[${found.join(' ')}]`;
  if (what === 'certificate') {
    if (found.length === 1 && isPrivateKey(found[0] ?? ''))
      return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
    return `tls: failed to find "${wanted}" PEM block in certificate input after skipping PEM blocks of the following types: ${list}`;
  }
  if (found.length === 1 && found[0] === 'CERTIFICATE')
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${list}`;
}
