import { wallNow } from '@asterism/client';
import type { KeyPair } from './certificate-authority.ts';
import { BACKDATE_MS } from './certificate-authority.ts';
import { certify } from './issue-certificate.ts';
import { importSigningKeys, newPrivateKey } from './keys.ts';
import { loadX509 } from './x509.ts';

const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';

/** A PKCS#10 request and the key it was made with, both PEM. */
export interface SigningRequest {
  csr: string;
  key: string;
}

/** What a request asks to be certified; its signature was verified. */
export interface SigningRequestContent {
  commonName: string;
  organizations: string[];
  dnsNames: string[];
  ipAddresses: string[];
  emailAddresses: string[];
  uris: string[];
}

/** A request for a client certificate: the key stays with whoever asks. `key`: an own P-256 key, PEM; default a new one. */
export async function createSigningRequest(options: {
  commonName: string;
  organizations?: string[];
  dnsNames?: string[];
  ipAddresses?: string[];
  key?: string;
}): Promise<SigningRequest> {
  const x509 = await loadX509();
  const key = options.key ?? newPrivateKey();
  const keys = importSigningKeys(key);
  const names = [
    ...(options.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(options.ipAddresses ?? []).map((value) => ({ type: 'ip' as const, value })),
  ];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [
      ...(options.organizations ?? []).map((organization) => ({ O: [organization] })),
      { CN: [options.commonName] },
    ],
    keys,
    signingAlgorithm: keys.algorithm,
    extensions: names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : [],
  });
  return { csr: `${request.toString('pem')}\n`, key };
}

/** Reads a PEM request. Rejects where it is malformed or was not signed by the key that it carries. */
export async function readSigningRequest(csr: string): Promise<SigningRequestContent> {
  const { content } = await parse(csr);
  return content;
}

/**
 * Signs a request: subject and names as asked, `usages` as the caller decided. Whether the subject may have them is the
 * caller's to check. Returns PEM.
 */
export async function signRequest(
  ca: KeyPair,
  csr: string,
  options: { usages: ('server' | 'client')[]; keyEncipherment?: boolean; seconds: number; now?: number },
): Promise<string> {
  const { content, publicKey } = await parse(csr);
  const now = options.now ?? wallNow();
  const { usages, keyEncipherment = true } = options;
  return await certify(ca, { ...content, usages, keyEncipherment }, publicKey, {
    notBefore: now - BACKDATE_MS,
    notAfter: now + options.seconds * 1000,
  });
}

async function parse(csr: string) {
  const x509 = await loadX509();
  const request = new x509.Pkcs10CertificateRequest(csr);
  if (!(await request.verify())) throw new Error('the certificate request is not signed by the key that it carries');
  const extension = request.getExtension(SUBJECT_ALTERNATIVE_NAME);
  const names = extension === null ? [] : new x509.SubjectAlternativeNameExtension(extension.rawData).names.toJSON();
  const named = (type: string) => names.filter((name) => name.type === type).map((name) => name.value);
  const content: SigningRequestContent = {
    commonName: request.subjectName.getField('CN')[0] ?? '',
    organizations: request.subjectName.getField('O'),
    dnsNames: named('dns'),
    ipAddresses: named('ip'),
    emailAddresses: named('email'),
    uris: named('url'),
  };
  return { content, publicKey: await request.publicKey.export() };
}
