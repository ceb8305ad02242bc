import type { Duplex } from 'node:stream';
import type { ApiExtension, ApiResponse, ExtensionContext } from '@asterism/apiserver';
import { type Clock, systemClock } from '@asterism/client';
import { failure, type StatusError } from '@asterism/machinery';
import type { Logger } from '@asterism/runtime';
import type { TunnelHub } from '@asterism/tunnel';
import { GROUP, PROXY_GROUP, VERSION } from '../api/index.ts';
import type { ClusterConnections } from './cluster-connections.ts';
import { acceptTunnel } from './accept-tunnel.ts';
import { CallLimits, type ReachLimits } from './call-limits.ts';
import { CallRecord } from './call-record.ts';
import { DESTINATIONS } from './destination-call.ts';
import { memberRequest, proxyCall, relayOf } from './proxy-call.ts';
import { formatHead, passUpgrade } from './proxy-upgrade.ts';
import type { CallersDirectory } from './callers-directory.ts';
import { reachFailure } from './reach-failure.ts';
import { sendAsCaller } from './refused-impersonation.ts';
import { type WayInto, type WayOptions, wayInto } from './way-into.ts';
import { wayToDestination } from './way-to-destination.ts';

export interface ReachOptions {
  connections: ClusterConnections;
  tunnels: TunnelHub;
  callers: Pick<CallersDirectory, 'admit' | 'settled'>;
  /** Gets one line for each call: who, which cluster, what, and what came of it. */
  logger: Logger;
  /** How many calls may be under way at one time. Default: 200 of one user to one cluster, 1,000 of all. */
  limits?: Partial<ReachLimits> | undefined;
  clock?: Clock | undefined;
}

interface Surroundings extends ReachOptions {
  calls: CallLimits;
}

const CONNECT_VERBS = ['create', 'delete', 'get', 'patch', 'update'];

/**
 * `proxy.asterism.dev`: the ways into the members.
 *
 * `clusters/NAME/proxy/…` is the member's own API, for every verb and upgrade, as the caller: whoever may use the subresource
 * `clusters/proxy` of that name in the hub comes in under the own name, and the member's RBAC decides. `clusters/NAME/attach`
 * is where that cluster's agent, and nobody else, brings its connections.
 *
 * `destinations/NAME/proxy/https/HOST:PORT/…` is another server, behind the agent of that cluster, if its administrator listed that to it.
 * A resource of its own, so that a right to the member's API gives none to it. Its subresource is `proxy`, as that counts as
 * long-running at a kube-apiserver; of any other, calls would be ended after a minute there.
 */
export function createReachExtension(given: ReachOptions): ApiExtension {
  const options: Surroundings = { ...given, calls: new CallLimits(given.limits) };
  const handlers = {
    verbs: [],
    namespaced: false,
    authorization: 'rbac' as const,
    handle: (context: ExtensionContext) => takeCall(context, options),
    upgrade: (context: ExtensionContext, socket: Duplex, head: Buffer) => takeUpgrade(context, socket, head, options),
    auditsUpgrades: true as const,
    refused: (context: ExtensionContext, reason: string) => takeRefusal(context, reason, options),
  };
  return {
    group: PROXY_GROUP,
    version: VERSION,
    resources: [
      {
        resource: 'clusters',
        singular: 'cluster',
        kind: 'Cluster',
        ...handlers,
        subresources: [
          { name: 'proxy', kind: 'ClusterProxyOptions', verbs: CONNECT_VERBS },
          // Where a kube-apiserver's aggregator stands before the hub, the tunnel's connections pass through it. Only those
          // subresources count as long-running there that Kubernetes itself has for streams (attach, exec, log, portforward,
          // proxy): any other keeps one of its places for requests in flight for as long as it lasts.
          { name: 'attach', kind: 'ClusterAttachOptions', verbs: ['create', 'get'] },
        ],
      },
      {
        resource: DESTINATIONS,
        singular: 'destination',
        kind: 'Destination',
        ...handlers,
        subresources: [{ name: 'proxy', kind: 'DestinationProxyOptions', verbs: CONNECT_VERBS }],
      },
    ],
  };
}

async function wayOf(context: ExtensionContext, options: WayOptions): Promise<WayInto> {
  const { resource, subresource } = context;
  if (subresource !== 'proxy') {
    throw failure(404, `${resource} of ${PROXY_GROUP} have no such subresource; the objects are in ${GROUP}`);
  }
  const { call } = options;
  return 'destination' in call ? wayToDestination(context, { ...options, call }) : await wayInto(context, options);
}

const isAttach = ({ resource, subresource }: ExtensionContext): boolean =>
  resource === 'clusters' && subresource === 'attach';

async function takeCall(
  context: ExtensionContext,
  { connections, callers, calls, logger, clock = systemClock }: Surroundings,
): Promise<ApiResponse> {
  if (isAttach(context)) throw failure(426, 'a tunnel begins with an HTTP/1.1 upgrade');
  const record = new CallRecord(context, { logger, upgrade: false });
  let leave = (): void => {};
  const onEnd = (): void => {
    leave();
    record.ended();
  };
  try {
    const way = await wayOf(context, { connections, callers, call: record.call, upgrade: undefined });
    leave = calls.enter(context.name ?? '', context.user.username);
    return await proxyCall(context, way, { record, clock, onEnd });
  } catch (cause) {
    const error = reachFailure(cause, context.name ?? '', destinationOf(record));
    record.answered({ status: error.code, cause, reason: error.message });
    onEnd();
    throw error;
  }
}

async function takeUpgrade(
  context: ExtensionContext,
  socket: Duplex,
  head: Buffer,
  { connections, tunnels, callers, calls, logger, clock = systemClock }: Surroundings,
): Promise<void> {
  const { audit } = context;
  if (isAttach(context)) return await attach(context, socket, head, { connections, tunnels });
  const record = new CallRecord(context, { logger, upgrade: true });
  let leave = (): void => {};
  try {
    const upgrade = [context.request.headers['upgrade'] ?? ''].flat().join();
    const way = await wayOf(context, { connections, callers, call: record.call, upgrade });
    leave = calls.enter(context.name ?? '', context.user.username);
    const sent = memberRequest(context, way, { upgrade: true, long: record.follows });
    const send = () => way.transport.upgrade(sent);
    const answer = await sendAsCaller(send, {
      clusterName: context.name ?? '',
      destination: way.destination,
      username: way.identity.user,
      replayable: true,
      clock,
      signal: context.request.signal,
    });
    const { method, headers } = context.request;
    const asked = { method, protocols: headers['upgrade'], ...relayOf(context, way) };
    const onBytesIn = (bytes: number): void => void (record.bytesIn += bytes);
    const onBytesOut = (bytes: number): void => void (record.bytesOut += bytes);
    await passUpgrade(
      answer,
      { socket, head, asked },
      {
        onBytesIn,
        onBytesOut,
        onAnswered: (status) => {
          record.answered({ status });
          if (status >= 400) audit?.endsSoon();
          audit?.started(status);
        },
      },
    );
  } catch (cause) {
    const error = reachFailure(cause, context.name ?? '', destinationOf(record));
    record.answered({ status: error.code, cause, reason: error.message });
    audit?.endsSoon();
    audit?.started(error.code);
    refuse(socket, error);
  } finally {
    leave();
    record.ended();
    audit?.ended();
  }
}

function destinationOf({ call }: CallRecord): string | undefined {
  return 'destination' in call ? call.destination : undefined;
}

async function attach(
  context: ExtensionContext,
  socket: Duplex,
  head: Buffer,
  options: Pick<ReachOptions, 'connections' | 'tunnels'>,
): Promise<void> {
  const { audit, name = '' } = context;
  socket.once('close', () => audit?.ended());
  try {
    await acceptTunnel(context, socket, head, options);
    audit?.started(101);
  } catch (cause) {
    const error = reachFailure(cause, name);
    audit?.endsSoon();
    audit?.started(error.code);
    refuse(socket, error);
  }
}

function refuse(socket: Duplex, { status, code }: StatusError): void {
  const body = Buffer.from(JSON.stringify(status));
  const seconds = status.details?.retryAfterSeconds;
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    connection: 'close',
    ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
  };
  socket.end(Buffer.concat([Buffer.from(formatHead(code, headers)), body]));
}

function takeRefusal(context: ExtensionContext, reason: string, { logger }: ReachOptions): void {
  if (context.subresource !== 'proxy') return;
  const record = new CallRecord(context, { logger, upgrade: false });
  record.answered({ status: 403, reason: reason === '' ? 'RBAC of the hub' : reason });
  record.ended();
}
