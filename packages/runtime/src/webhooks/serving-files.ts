import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { type TrustAnchors, trustAnchors } from '@asterism/client';

/**
 * Where a server finds what it proves its name with; all PEM. Secrets of type `kubernetes.io/tls` have these entries.
 *
 * @example {@link createWebhookServer}
 */
export interface ServingFiles {
  /** With the certificates between it and the authority, e.g. `…/tls.crt`. */
  certFile: string;
  /** Not encrypted, e.g. `…/tls.key`. */
  keyFile: string;
  /** Of authorities: only who shows a certificate of one of them is let in. Without it anybody may ask. */
  clientCaFile?: string | undefined;
}

/** What stands in the files, fit to be used. */
export interface ServingCredentials {
  options: Pick<SecureContextOptions, 'cert' | 'key'> & TrustAnchors;
  /** The same for the same contents. */
  digest: string;
  /** When the certificate ends, ms since 1970. */
  notAfter: number;
  /** Of the certificate, as it is written in hexadecimal. */
  serialNumber: string;
}

/** Rejects with an error that names the file, and nothing that stands in it, where one is missing or they do not fit. */
export async function readServingFiles({ certFile, keyFile, clientCaFile }: ServingFiles): Promise<ServingCredentials> {
  const cert = await read(certFile);
  const key = await read(keyFile);
  const ca = clientCaFile === undefined ? undefined : await read(clientCaFile);
  const { validToDate, serialNumber } = readCertificate(certFile, cert);
  if (clientCaFile !== undefined) readCertificate(clientCaFile, ca ?? '');
  const options = { cert, key, ...trustAnchors(ca) };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new Error(`${certFile} and ${keyFile} cannot be used together: ${(cause as Error).message}`, { cause });
  }
  const digest = createHash('sha256').update(JSON.stringify(options)).digest('hex');
  return { options, digest, notAfter: validToDate.getTime(), serialNumber };
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}`, { cause });
  }
}

function readCertificate(file: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Error(`${file} is no certificate in PEM`, { cause });
  }
}
