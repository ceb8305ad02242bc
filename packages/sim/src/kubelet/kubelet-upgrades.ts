import type { IncomingMessage } from 'node:http';
import type { KubeletOptions } from './kubelet.ts';
import { containerOf, pageNotFound, podOf, readPath, requireBackend } from './kubelet-path.ts';
import { readKubeletCommandQuery, readPorts } from './query-flags.ts';
import {
  namesPortsInQuery,
  serveCommandUpgrade,
  servePortForwardUpgrade,
  type UpgradeCall,
} from './streaming-session.ts';

/** `/exec/…`, `/attach/…` and `/portForward/…`. Rejects, with nothing written, where it is refused. */
export async function upgradeRequest(
  options: KubeletOptions,
  { url, method }: IncomingMessage,
  call: UpgradeCall,
): Promise<void> {
  const { route, rest, query } = readPath(url);
  if (method !== 'GET' && method !== 'POST') throw pageNotFound();
  if (route === 'exec' || route === 'attach') {
    const ref = containerOf(rest);
    const request = readKubeletCommandQuery(query);
    const backend = requireBackend(options, ref);
    await serveCommandUpgrade(call, { kind: route, backend, ref, request, command: query.getAll('command') });
    return;
  }
  if (route !== 'portForward') throw pageNotFound();
  const pod = podOf(rest);
  const ports = namesPortsInQuery(call.headers) ? readPorts(query, 'port') : [];
  await servePortForwardUpgrade(call, { backend: requireBackend(options, pod), pod, ports });
}
