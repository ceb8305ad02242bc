import type { Duplex } from 'node:stream';
import type { ExtensionContext } from '@asterism/apiserver';
import { badRequest, forbidden, notFound } from '@asterism/machinery';
import {
  answerCarrier,
  type CarrierAnswer,
  type ConnectionOffer,
  isTunnelError,
  parseOffer,
  type TunnelHub,
} from '@asterism/tunnel';
import { agentKeyGroup, agentUser, GROUP, PROXY_GROUP, VERSION } from '../api/index.ts';
import type { ClusterConnections } from './cluster-connections.ts';
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
  await mayCreate(context);
  if (user.username !== agentUser(name)) {
    throw forbidden(
      { group: PROXY_GROUP, resource: 'clusters/attach' },
      name,
      `only the agent of the cluster (user "${agentUser(name)}") opens its tunnel`,
    );
  }
  const fault = await faultOf(context, connections);
  if (fault) throw fault;
  const { offer, carrier } = readRequest(request);
  await write(socket, formatHead(101, carrier.headers));
  // What was cut off meanwhile is not to come in behind its cut.
  if (await faultOf(context, connections)) socket.destroy();
  else tunnels.accept(name, carrier.carry(socket, head), offer);
}

/** Why the cluster's tunnel is not this agent's to bring. */
async function faultOf(
  { user, name = '' }: ExtensionContext,
  connections: ClusterConnections,
): Promise<Error | undefined> {
  const key = await connections.keyOf(name);
  if (!connections.find(name)) return notFound({ group: GROUP, resource: 'clusters' }, name);
  if (key !== undefined && user.groups.includes(agentKeyGroup(key))) return undefined;
  return forbidden(
    { group: PROXY_GROUP, resource: 'clusters/attach' },
    name,
    'the cluster is bound to another key than this certificate is for',
  );
}

function readRequest({ headers }: ExtensionContext['request']): { offer: ConnectionOffer; carrier: CarrierAnswer } {
  try {
    return { carrier: answerCarrier(headers), offer: parseOffer(headers) };
  } catch (error) {
    throw isTunnelError(error) ? badRequest(error.message) : error;
  }
}

/** A WebSocket handshake is a GET, for which the server has checked `get`: what opens a tunnel needs `create`, whatever it looks like. */
async function mayCreate({ authorize, name = '' }: ExtensionContext): Promise<void> {
  const resource = { group: PROXY_GROUP, version: VERSION, resource: 'clusters', subresource: 'attach', name };
  const { allowed } = await authorize({ verb: 'create', ...resource });
  if (allowed) return;
  throw forbidden(
    { group: PROXY_GROUP, resource: 'clusters/attach' },
    name,
    'to open a tunnel takes the verb "create"',
  );
}

/** Resolves when the bytes have left: HTTP/2 takes a TLS socket over beneath its stream, and a write under way aborts Node. */
function write(socket: Duplex, text: string): Promise<void> {
  return new Promise((resolve) => void socket.write(text, () => resolve()));
}
