import { type Connection, connectionFromKubeconfig, loadKubeconfig } from '@asterism/client';

/** The connection that the current context of a kubeconfig file describes. */
export async function connectionOf(kubeconfig: string): Promise<Connection> {
  return await connectionFromKubeconfig(await loadKubeconfig(kubeconfig));
}
