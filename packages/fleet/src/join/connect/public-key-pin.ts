import { createHash, createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';

/** A pin is `sha256:` and the SHA-256 of a public key's SubjectPublicKeyInfo in hex, as kubeadm's discovery hashes are. */
const PIN = /^sha256:[0-9a-f]{64}$/;

export function isPublicKeyPin(text: string): boolean {
  return PIN.test(text);
}

/** The pin of a public key in SubjectPublicKeyInfo, DER. */
export function publicKeyPin(spki: Uint8Array): string {
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

/** The pin of the public half of a private key (PEM). */
export function privateKeyPin(key: string): string {
  return publicKeyPin(createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' }));
}

/** The pin of a certificate's key. Takes PEM (the first certificate in it) or DER. */
export function certificatePin(certificate: string | Uint8Array): string {
  return publicKeyPin(new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' }));
}
