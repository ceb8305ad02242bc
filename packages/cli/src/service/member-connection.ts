import { ClientError, type Connection, inClusterConnection, loadKubeconfig } from '@asterism/client';
import { CommandError, EXIT } from '../exit-code.ts';
import { readConnection } from '../read-connection.ts';
import type { SyncMode } from './sync-mode.ts';

/** The API server of the agent's own cluster, and whether that is the one it runs in as a pod. */
export interface MemberConnection {
  connection: Connection;
  inPod: boolean;
}

/**
 * By a kubeconfig that is named, else the pod's service account. `$KUBECONFIG` is not looked at: it leads to the hub. One that would
 * not verify whom it leads to is refused.
 */
export async function memberConnection(
  flags: { kubeconfig?: string; context?: string },
  ofPod: () => Promise<Connection> = inClusterConnection,
): Promise<MemberConnection> {
  const { kubeconfig, context } = flags;
  if (kubeconfig !== undefined) {
    const connection = await readConnection(await loadKubeconfig(kubeconfig), {
      context,
      where: kubeconfig,
      verified: true,
    });
    return { connection, inPod: false };
  }
  if (context !== undefined) {
    throw new CommandError('--context: says nothing without --kubeconfig', EXIT.usage);
  }
  try {
    return { connection: await ofPod(), inPod: true };
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'ERR_NOT_IN_CLUSTER') throw error;
    throw new CommandError(
      `which cluster? Name its kubeconfig with --kubeconfig; the pod's service account cannot be taken: ${error.message}`,
      EXIT.usage,
      { cause: error },
    );
  }
}

/**
 * Where the hub shall find this API server: as said, else (Push) where the agent finds it. A pod knows it by an address that
 * leads nowhere outside.
 */
export function endpointOf(
  { connection, inPod }: MemberConnection,
  { endpoint, caBundle, syncMode }: { endpoint: string | undefined; caBundle?: string | undefined; syncMode: SyncMode },
): { server: string; caBundle?: string } | undefined {
  if (endpoint !== undefined) return { server: endpoint, ...(caBundle === undefined ? {} : { caBundle }) };
  if (syncMode !== 'Push') return undefined;
  if (!inPod) return { server: connection.server };
  throw new CommandError(
    `--endpoint: the hub is to dial this cluster (push), and ${connection.server} leads to it only inside: say where its API server is, or join with --mode pull`,
    EXIT.usage,
  );
}
