import type { Duplex } from 'node:stream';
import type { ApiExtension, ApiResponse, ExtensionContext } from '@asterism/apiserver';
import type { Impersonation, Transport } from '@asterism/client';
import { failure, forbidden, notFound } from '@asterism/machinery';
import type { Logger } from '@asterism/runtime';
import type { TunnelHub } from '@asterism/tunnel';
import { GROUP, PROXY_GROUP, VERSION } from '../api/index.ts';
import type { ClusterConnections } from '../join/connect/cluster-connections.ts';
import { acceptTunnel } from './accept-tunnel.ts';
import { forwardedIdentity } from './forwarded-identity.ts';
import { memberRequest, proxyCall } from './proxy-call.ts';
import { formatHead, passUpgrade } from './proxy-upgrade.ts';
import { reachFailure } from './reach-failure.ts';

export interface ReachOptions {
  connections: ClusterConnections;
  tunnels: TunnelHub;
  /** Gets one line for each call: who, which cluster, what, and what came of it. */
  logger: Logger;
}

const CONNECT_VERBS = ['create', 'delete', 'get', 'patch', 'update'];

/**
 * `proxy.asterism.dev`: the ways into the members.
 *
 * `clusters/NAME/proxy/…` is the member's own API, for every verb and upgrade, as the caller: whoever may use the subresource
 * `clusters/proxy` of that name in the hub comes in under the own name, and the member's RBAC decides. `clusters/NAME/attach`
 * is where that cluster's agent, and nobody else, brings its connections.
 */
export function createReachExtension(options: ReachOptions): ApiExtension {
  return {
    group: PROXY_GROUP,
    version: VERSION,
    resources: [
      {
        resource: 'clusters',
        singular: 'cluster',
        kind: 'Cluster',
        namespaced: false,
        verbs: [],
        subresources: [
          { name: 'proxy', kind: 'ClusterProxyOptions', verbs: CONNECT_VERBS },
          // Where a kube-apiserver's aggregator stands before the hub, the tunnel's connections pass through it. Only those
          // subresources count as long-running there that Kubernetes itself has for streams (attach, exec, log, portforward,
          // proxy): any other keeps one of its places for requests in flight for as long as it lasts.
          { name: 'attach', kind: 'ClusterAttachOptions', verbs: ['create'] },
        ],
        authorization: 'rbac',
        handle: (context) => takeCall(context, options),
        upgrade: (context, socket, head) => takeUpgrade(context, socket, head, options),
      },
    ],
  };
}

async function takeCall(context: ExtensionContext, options: ReachOptions): Promise<ApiResponse> {
  if (context.subresource === 'attach') throw failure(426, 'a tunnel begins with an HTTP/1.1 upgrade');
  const began = performance.now();
  try {
    const { transport, identity } = wayInto(context, options.connections);
    const response = await proxyCall(context, transport, identity);
    audit(context, options.logger, { status: response.status, began });
    return response;
  } catch (cause) {
    const error = reachFailure(cause, context.name ?? '');
    audit(context, options.logger, { status: error.code, began, cause });
    throw error;
  }
}

async function takeUpgrade(
  context: ExtensionContext,
  socket: Duplex,
  head: Buffer,
  { connections, tunnels, logger }: ReachOptions,
): Promise<void> {
  const began = performance.now();
  try {
    if (context.subresource === 'attach') return await acceptTunnel(context, socket, head, { connections, tunnels });
    const { transport, identity } = wayInto(context, connections);
    const answer = await transport.upgrade(memberRequest(context, identity, { upgrade: true }));
    audit(context, logger, { status: answer.status, began });
    await passUpgrade(answer, socket, head);
  } catch (cause) {
    const { status, code } = reachFailure(cause, context.name ?? '');
    audit(context, logger, { status: code, began, cause });
    const body = Buffer.from(JSON.stringify(status));
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length), connection: 'close' };
    socket.end(Buffer.concat([Buffer.from(formatHead(code, headers)), body]));
  }
}

/** Where a call goes and as whom. Throws a `StatusError` where it may not, or cannot. */
function wayInto(
  { name = '', subresource, user }: ExtensionContext,
  connections: ClusterConnections,
): { transport: Transport; identity: Impersonation } {
  if (subresource !== 'proxy') {
    throw failure(404, `clusters of ${PROXY_GROUP} have nothing but proxy and attach; the objects are in ${GROUP}`);
  }
  const identity = forwardedIdentity(user);
  if ('refused' in identity) {
    throw forbidden({ group: PROXY_GROUP, resource: 'clusters/proxy' }, name, identity.refused);
  }
  const connection = connections.find(name);
  if (!connection) throw notFound({ group: GROUP, resource: 'clusters' }, name);
  if ('unavailable' in connection) {
    throw failure(503, `cluster "${name}" cannot be reached: ${connection.unavailable}`);
  }
  return { transport: connection.transport, identity };
}

function audit(
  { request, user, name, verb, rest }: ExtensionContext,
  logger: Logger,
  { status, began, cause }: { status: number; began: number; cause?: unknown },
): void {
  const ms = Math.round(performance.now() - began);
  const call = { user: user.username, member: name, verb, method: request.method, path: rest, status, ms };
  // The caller is not told of addresses: here they are.
  logger.info(cause instanceof Error ? { ...call, reason: cause.message } : call, 'proxied a call');
}
