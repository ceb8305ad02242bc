import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CommandError, EXIT } from '../exit-code.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The PEM of a file with one certificate or more. Rejects as wrong usage of `flag`.
 *
 * @param instead what else may be given to the flag, for the message
 */
export async function readAuthority(flag: string, file: string, instead = ''): Promise<string> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new CommandError(
      `${flag}: ${file} cannot be read (${code}): give the file with the CA (PEM)${instead}`,
      EXIT.usage,
    );
  });
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new CommandError(`${flag}: ${file} holds no certificate (PEM)`, EXIT.usage);
  for (const [index, pem] of certificates.entries()) {
    if (!isCertificate(pem)) {
      throw new CommandError(`${flag}: ${file}: certificate ${index + 1} in it is damaged`, EXIT.usage);
    }
  }
  return text;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
