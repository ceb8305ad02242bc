import { ClientError, type Connection, connectionFromKubeconfig, type Kubeconfig } from '@asterism/client';
import { checkCertificates } from './certificates.ts';

export interface ReadConnectionOptions {
  /** The kubeconfig's current context, unless one is given. */
  context?: string | undefined;
  /** The kubeconfig may name programs to run and files to read on this machine. */
  trusted: boolean;
}

/**
 * The connection of a context whose parts have been looked at. Rejects with a `ClientError` that quotes nothing secret:
 * whoever wrote the kubeconfig may have put anything anywhere.
 */
export async function readConnection(kubeconfig: Kubeconfig, options: ReadConnectionOptions): Promise<Connection> {
  const { context, trusted } = options;
  try {
    if (!trusted) refuseLocalParts(kubeconfig, context);
    const connection = await connectionFromKubeconfig(kubeconfig, context);
    const { credential } = connection;
    if (credential.kind === 'exec' && typeof credential.exec.command !== 'string') {
      throw refused('its user has an exec without a command');
    }
    if (credential.kind === 'token' && typeof credential.token !== 'string') throw refused('its token is not a text');
    checkCertificates(connection);
    return connection;
  } catch (error) {
    if (error instanceof ClientError) throw error;
    // Its message may quote the value.
    throw refused('a value in it has the wrong type');
  }
}

/** Who may write a Secret shall not run programs where the controller runs, nor have its files sent to a server. */
function refuseLocalParts(kubeconfig: Kubeconfig, context: string | undefined): void {
  const { user } = partsOf(kubeconfig, context);
  const named = [...filesOf(kubeconfig, context).keys(), ...(user?.exec ? ['exec'] : [])];
  if (named.length > 0) {
    throw refused(`${named.join(' and ')} would use this machine's programs or files, which only "trusted" allows`);
  }
}

/** The files that a context's connection is read from, by what they are for. */
export function filesOf(kubeconfig: Kubeconfig, context: string | undefined): Map<string, string> {
  const { cluster, user } = partsOf(kubeconfig, context);
  const files = new Map<string, string>();
  const add = (use: string, path: string | undefined, data?: string): void => {
    if (path && !data) files.set(use, path);
  };
  add('certificate-authority', cluster?.['certificate-authority'], cluster?.['certificate-authority-data']);
  add('client-certificate', user?.['client-certificate'], user?.['client-certificate-data']);
  add('client-key', user?.['client-key'], user?.['client-key-data']);
  add('tokenFile', user?.tokenFile);
  return files;
}

/** What a context refers to; what is missing is left to the one who builds the connection. */
function partsOf(kubeconfig: Kubeconfig, context = kubeconfig['current-context']) {
  const chosen = kubeconfig.contexts.find(({ name }) => name === context)?.context;
  return {
    cluster: kubeconfig.clusters.find(({ name }) => name === chosen?.cluster)?.cluster,
    user: kubeconfig.users.find(({ name }) => name === chosen?.user)?.user,
  };
}

function refused(message: string): ClientError {
  return new ClientError(message, { code: 'ERR_KUBECONFIG' });
}
