import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  clientCertificate,
  type Connection,
  connectionFromKubeconfig,
  type Kubeconfig,
  wallNow,
} from '@asterism/client';
import { CommandError, EXIT } from './exit-code.ts';

export interface ReadConnectionOptions {
  context: string | undefined;
  /** What messages call the kubeconfig. */
  where: string;
  now?: number;
  /** Refuse a cluster whose certificate would not be verified; what else helps then, of the flags that there are. Default: do not. */
  verified?: boolean | { orGive: string } | undefined;
}

/**
 * The connection of a context of a kubeconfig, the current one by default. Rejects where no request could ever succeed by it: a
 * context that is not there, a certificate or token that is none, a client certificate that has expired. Nothing of what is
 * secret is quoted.
 */
export async function readConnection(
  kubeconfig: Kubeconfig,
  { context, where, now = wallNow(), verified = false }: ReadConnectionOptions,
): Promise<Connection> {
  const names = kubeconfig.contexts.map(({ name }) => JSON.stringify(name)).join(', ');
  const there = names === '' ? 'it has none' : `it has ${names}`;
  const chosen = context ?? kubeconfig['current-context'];
  if (!chosen) {
    throw new CommandError(`${where} has no current context: choose one with --context (${there})`, EXIT.usage);
  }
  if (context !== undefined && !kubeconfig.contexts.some(({ name }) => name === context)) {
    throw new CommandError(`--context: ${JSON.stringify(context)} is not in ${where} (${there})`, EXIT.usage);
  }
  const connection = await connectionFromKubeconfig(kubeconfig, context).catch((cause: Error) => {
    throw new CommandError(`${where}: ${cause.message}`, EXIT.error, { cause });
  });
  if (connection.insecureSkipTlsVerify && verified !== false) {
    const cluster = kubeconfig.contexts.find(({ name }) => name === chosen)?.context.cluster ?? '';
    const orGive = verified === true ? '' : `, or give it with ${verified.orGive}`;
    throw new CommandError(
      `${where}, context ${JSON.stringify(chosen)}: its cluster ${JSON.stringify(cluster)} says insecure-skip-tls-verify: whoever ` +
        'answers at that address would be given tokens and keys. Put the authority of that API server there as ' +
        `certificate-authority-data instead${orGive} (on a control plane it is /etc/kubernetes/pki/ca.crt)`,
      EXIT.usage,
    );
  }
  const fault = faultOf(connection, now);
  if (fault === undefined) return connection;
  throw new CommandError(`${where}, context ${JSON.stringify(chosen)}: ${fault}`);
}

function faultOf({ caData, credential }: Connection, now: number): string | undefined {
  if (caData !== undefined && !isCertificate(caData)) return 'the certificate authority is no certificate (PEM)';
  // A header takes no more; other bytes would break the connection.
  if (credential.kind === 'token' && !/^[\x21-\x7e]+$/.test(credential.token)) return 'the token is none';
  const shown = clientCertificate(credential);
  if (shown === undefined) return undefined;
  if (!isCertificate(shown.cert)) return 'the client certificate is none (PEM)';
  const certificate = new X509Certificate(shown.cert);
  if (!isKeyOf(certificate, shown.key)) return 'the client key is none (PEM), or not that of the client certificate';
  if (certificate.validToDate.getTime() >= now) return undefined;
  const [ended, today] = [certificate.validToDate, new Date(now)].map((date) => date.toISOString());
  return `the client certificate expired at ${ended}, and it is ${today} by this machine's clock: get a new one`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function isKeyOf(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
