import { readFile } from 'node:fs/promises';
import { ClientError } from '../client-error.ts';
import type { Connection } from '../connection.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Where to look, for tests. */
export interface InClusterOptions {
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder with `token` and `ca.crt`. */
  folder?: string | undefined;
}

/** The connection that every pod has: its service account. Rejects with `ERR_NOT_IN_CLUSTER` elsewhere. */
export async function inClusterConnection(options: InClusterOptions = {}): Promise<Connection> {
  const { env = process.env, folder = SERVICE_ACCOUNT } = options;
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) {
    throw new ClientError('not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set', {
      code: 'ERR_NOT_IN_CLUSTER',
    });
  }
  let caData: string;
  try {
    caData = await readFile(`${folder}/ca.crt`, 'utf8');
  } catch (cause) {
    throw new ClientError(`the pod has no service account: ${(cause as Error).message}`, {
      code: 'ERR_NOT_IN_CLUSTER',
      cause,
    });
  }
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return { server: `https://${authority}`, caData, credential: { kind: 'tokenFile', path: `${folder}/token` } };
}
