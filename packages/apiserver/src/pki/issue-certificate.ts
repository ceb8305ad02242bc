import { X509Certificate, type webcrypto } from 'node:crypto';
import { wallNow } from '@asterism/client';
import type { Extension, X509Certificate as AuthorityCertificate } from '@peculiar/x509';
import { BACKDATE_MS, type KeyPair } from './certificate-authority.ts';
import { subjectBytes, withIssuer } from './certificate-names.ts';
import { importSigningKeys, newPrivateKey, newSerialNumber } from './keys.ts';
import { loadX509 } from './x509.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What a certificate says: who, under which names, for what. */
export interface CertificateSubject {
  commonName: string;
  organizations?: string[];
  dnsNames?: string[];
  ipAddresses?: string[];
  emailAddresses?: string[];
  uris?: string[];
  /** False for a key that signs and does nothing else. Default true. */
  keyEncipherment?: boolean;
  usages: ('server' | 'client')[];
}

/** A certificate for a new P-256 key. Its life ends no later than the authority's. */
export async function issueCertificate(
  ca: KeyPair,
  options: CertificateSubject & { days: number; now?: number },
): Promise<KeyPair> {
  const key = newPrivateKey();
  const { publicKey } = importSigningKeys(key);
  const now = options.now ?? wallNow();
  const cert = await certify(ca, options, publicKey, {
    notBefore: now - BACKDATE_MS,
    notAfter: now + options.days * DAY_MS,
  });
  return { cert, key };
}

/**
 * Signs `publicKey` with the authority. The issuer is the authority's subject, byte for byte, and the authority key identifier is its subject
 * key identifier, if it has one. Times in milliseconds since 1970; returns PEM.
 */
export async function certify(
  ca: KeyPair,
  subject: CertificateSubject,
  publicKey: webcrypto.CryptoKey,
  validity: { notBefore: number; notAfter: number },
): Promise<string> {
  const x509 = await loadX509();
  const authority = new x509.X509Certificate(ca.cert);
  const signer = importSigningKeys(ca.key);
  const { ExtendedKeyUsage, KeyUsageFlags } = x509;
  const names = [
    ...(subject.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(subject.ipAddresses ?? []).map((value) => ({ type: 'ip' as const, value })),
    ...(subject.emailAddresses ?? []).map((value) => ({ type: 'email' as const, value })),
    ...(subject.uris ?? []).map((value) => ({ type: 'url' as const, value })),
  ];
  const keyUsages =
    KeyUsageFlags.digitalSignature | (subject.keyEncipherment === false ? 0 : KeyUsageFlags.keyEncipherment);
  const extensions: Extension[] = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(keyUsages, true),
    new x509.ExtendedKeyUsageExtension(
      subject.usages.map((usage) => (usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth)),
    ),
    ...authorityKey(x509, authority),
    ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerialNumber(),
    subject: [
      ...(subject.organizations ?? []).map((organization) => ({ O: [organization] })),
      { CN: [subject.commonName] },
    ],
    issuer: authority.subjectName.toJSON(),
    notBefore: new Date(Math.max(validity.notBefore, authority.notBefore.getTime())),
    notAfter: new Date(Math.min(validity.notAfter, authority.notAfter.getTime())),
    publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: signer.algorithm,
    extensions,
  });
  const issued = withIssuer(Buffer.from(certificate.rawData), subjectBytes(ca.cert), {
    key: ca.key,
    hash: signer.algorithm.hash.replace('-', ''),
  });
  return new X509Certificate(issued).toString();
}

/** As Go's `CreateCertificate`: it is what the authority says of itself, which need not be the hash of its key. */
function authorityKey(x509: typeof import('@peculiar/x509'), authority: AuthorityCertificate): Extension[] {
  const own = authority.getExtension(x509.SubjectKeyIdentifierExtension);
  return own === null ? [] : [new x509.AuthorityKeyIdentifierExtension(own.keyId)];
}
