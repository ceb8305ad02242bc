import { wallNow } from '@asterism/client';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { issuerBytes, subjectBytes } from './certificate-names.ts';
import { createCertificateAuthority, type KeyPair } from './certificate-authority.ts';
import { type CertificateSubject, issueCertificate } from './issue-certificate.ts';
import { keyPairFault, privateKeyFault } from './key-fault.ts';
import { newPrivateKey } from './keys.ts';

/** All the keys of one API server, kept as files in a folder of its own. */
export interface ServerPki {
  /** Signs the others, and the client certificates that the server hands out. */
  ca: KeyPair;
  serving: KeyPair;
  admin: KeyPair;
  /** Signs service account tokens; PEM. */
  serviceAccountKey: string;
}

export interface ServerPkiOptions {
  /** Made with mode 0700 where it is missing. Every file in it has mode 0600. */
  dir: string;
  /** The server's name, as certificate viewers show it; its authority is called the same with ` CA` behind. */
  commonName: string;
  /** DNS names and IP addresses that the server is called by. */
  hosts: readonly string[];
  /** Who the administrator's client certificate names. */
  admin: { commonName: string; organizations: readonly string[] };
  now?: number;
  /** How long the serving and the admin certificate are valid, ms. Default a year. */
  leafMs?: number | undefined;
  /** Issues both again even if those in the folder are good: a server renews them so while it runs. Default false. */
  reissue?: boolean | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long the serving and the admin certificate are valid unless the caller says otherwise, ms. */
export const LEAF_MS = 365 * DAY_MS;
/** A certificate with less than this part of its life left is issued again when the server starts. */
const RENEW_BEFORE = 1 / 3;

/**
 * Reads a server's keys, making what is missing: everything at the first start; later the certificates that are close to
 * their end or do not bear a host that is wanted now. The authority stays what it was.
 */
export async function openServerPki(options: ServerPkiOptions): Promise<ServerPki> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  const { now = wallNow(), leafMs = LEAF_MS, reissue = false } = options;
  await requireWholeAuthority(options.dir);
  const ca = await keep(options.dir, 'ca', () =>
    createCertificateAuthority({ commonName: `${options.commonName} CA`, now }),
  );
  const leaf = async (name: string, subject: CertificateSubject): Promise<KeyPair> =>
    await keep(
      options.dir,
      name,
      () => issueCertificate(ca, { ...subject, days: leafMs / DAY_MS, now }),
      (pair) => !reissue && isGood(pair, ca, subject, now + leafMs * RENEW_BEFORE),
    );
  return {
    ca,
    serving: await leaf('serving', { commonName: options.commonName, ...namesOf(options.hosts), usages: ['server'] }),
    admin: await leaf('admin', {
      commonName: options.admin.commonName,
      organizations: [...options.admin.organizations],
      usages: ['client'],
    }),
    serviceAccountKey: await keepKey(join(options.dir, 'service-account.key')),
  };
}

/** `sha256:<hex>` of the certificate's public key, by which a peer that has nothing else can know an authority. */
export function publicKeyPin(certificate: string): string {
  const { publicKey } = new X509Certificate(certificate);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(der).digest('hex')}`;
}

function namesOf(hosts: readonly string[]): { dnsNames: string[]; ipAddresses: string[] } {
  return {
    dnsNames: hosts.filter((host) => isIP(host) === 0),
    ipAddresses: hosts.filter((host) => isIP(host) !== 0),
  };
}

/**
 * An authority that is damaged, or of which half is lost, is never replaced by a new one in silence: nobody would trust that. Throws
 * what names the file.
 */
async function requireWholeAuthority(dir: string): Promise<void> {
  const files = { cert: join(dir, 'ca.crt'), key: join(dir, 'ca.key') };
  const [cert, key] = await Promise.all([read(files.cert), read(files.key)]);
  if (cert === undefined && key === undefined) return;
  if (key === undefined) throw new Error(`${files.key} is missing, and ${files.cert} is there`);
  if (cert === undefined) {
    // The first start was cut off before it had signed anything.
    if ((await read(join(dir, 'serving.crt'))) === undefined) return;
    throw new Error(`${files.cert} is missing, and ${files.key} is there`);
  }
  const fault = keyPairFault({ cert, key }, cert);
  if (fault) throw new Error(`${files[fault.of]} is damaged (${fault.why})`);
}

/** A damaged certificate is not good: it is issued again. */
function isGood(pair: KeyPair, ca: KeyPair, subject: CertificateSubject, until: number): boolean {
  if (keyPairFault(pair, ca.cert)) return false;
  const certificate = new X509Certificate(pair.cert);
  return (
    issuerBytes(pair.cert).equals(subjectBytes(ca.cert)) &&
    certificate.validToDate.getTime() > until &&
    (subject.dnsNames ?? []).every((name) => certificate.checkHost(name) !== undefined) &&
    (subject.ipAddresses ?? []).every((address) => certificate.checkIP(address) !== undefined)
  );
}

/** A pair of `NAME.crt` and `NAME.key`. The key is written first: a certificate without one never stays behind. */
async function keep(
  dir: string,
  name: string,
  make: () => Promise<KeyPair>,
  isStillGood: (pair: KeyPair) => boolean = () => true,
): Promise<KeyPair> {
  const files = { cert: join(dir, `${name}.crt`), key: join(dir, `${name}.key`) };
  const [cert, key] = await Promise.all([read(files.cert), read(files.key)]);
  if (cert !== undefined && key !== undefined && isStillGood({ cert, key })) return { cert, key };
  const pair = await make();
  await replaceFile(files.key, pair.key);
  await replaceFile(files.cert, pair.cert);
  return pair;
}

async function keepKey(file: string): Promise<string> {
  const found = await read(file);
  if (found !== undefined) {
    const fault = privateKeyFault(found);
    if (fault === undefined) return found;
    throw new Error(`${file} is damaged (${fault})`);
  }
  const text = newPrivateKey();
  await replaceFile(file, text);
  return text;
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes by renaming, so that a process killed in the middle leaves the old file or the new one. */
async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
