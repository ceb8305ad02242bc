import type { Duplex } from 'node:stream';
import type { ExtensionContext } from '@asterism/apiserver';
import { badRequest, failure, forbidden, notFound } from '@asterism/machinery';
import { isTunnelError, parseOffer, TUNNEL_PROTOCOL, type TunnelHub } from '@asterism/tunnel';
import { agentKeyGroup, agentUser, GROUP, PROXY_GROUP } from '../api/index.ts';
import type { ClusterConnections } from '../join/connect/cluster-connections.ts';
import { formatHead } from './proxy-upgrade.ts';

/**
 * Takes a connection of a cluster's agent into the tunnel. RBAC has let the caller use `clusters/attach` of this name; beyond
 * that it must be that agent, with the key that the Cluster is bound to: an administrator, to whom RBAC allows everything, would
 * take calls in the cluster's place. Checked against the same state by whose changes tunnels are cut.
 *
 * Rejects with a `StatusError` before anything was written.
 */
export async function acceptTunnel(
  context: ExtensionContext,
  socket: Duplex,
  head: Buffer,
  { connections, tunnels }: { connections: ClusterConnections; tunnels: TunnelHub },
): Promise<void> {
  const { request, user, name = '' } = context;
  if (user.username !== agentUser(name)) {
    throw forbidden(
      { group: PROXY_GROUP, resource: 'clusters/attach' },
      name,
      `only the agent of the cluster (user "${agentUser(name)}") opens its tunnel`,
    );
  }
  const key = await connections.keyOf(name);
  if (!connections.find(name)) throw notFound({ group: GROUP, resource: 'clusters' }, name);
  if (key === undefined || !user.groups.includes(agentKeyGroup(key))) {
    throw forbidden(
      { group: PROXY_GROUP, resource: 'clusters/attach' },
      name,
      'the cluster is bound to another key than this certificate is for',
    );
  }
  const protocol = [request.headers['upgrade'] ?? []].flat().join(', ');
  if (protocol.toLowerCase() !== TUNNEL_PROTOCOL) {
    throw failure(400, `a tunnel speaks "${TUNNEL_PROTOCOL}", the upgrade asks for "${protocol}"`);
  }
  let offer: ReturnType<typeof parseOffer>;
  try {
    offer = parseOffer(request.headers);
  } catch (error) {
    throw isTunnelError(error) ? badRequest(error.message) : error;
  }
  await write(socket, formatHead(101, { connection: 'Upgrade', upgrade: TUNNEL_PROTOCOL }));
  tunnels.accept(name, socket, head, offer);
}

/** Resolves when the bytes have left: HTTP/2 takes a TLS socket over beneath its stream, and a write under way aborts Node. */
function write(socket: Duplex, text: string): Promise<void> {
  return new Promise((resolve) => void socket.write(text, () => resolve()));
}
