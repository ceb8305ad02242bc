import type { ExtensionContext } from '@asterism/apiserver';
import type { Impersonation, Transport } from '@asterism/client';
import { badRequest, failure, forbidden, notFound } from '@asterism/machinery';
import { GROUP, PROXY_GROUP } from '../api/index.ts';
import type { ClusterConnections, ReachableCluster } from './cluster-connections.ts';
import type { CallersDirectory } from './callers-directory.ts';
import { forwardedIdentity, mayCome, SYSTEM_PREFIX } from './forwarded-identity.ts';
import { memberPath } from './call-record.ts';
import type { DestinationCall } from './destination-call.ts';
import type { MemberCall } from './member-call.ts';
import { modeFault, stricterMode } from './reach-mode.ts';
import { refusedFor } from './refusal.ts';

/** Where a call goes, and as whom. */
export interface WayInto {
  transport: Transport;
  tunnelled: boolean;
  /** With query, at the other end of that transport. */
  path: string;
  /** The server that is asked, where that is another than the member's API server. */
  destination?: string;
  identity: Impersonation;
  /** Groups of the caller's that stay in the hub because nobody named them for this cluster. */
  leftOut: readonly string[];
}

/** How long after RBAC let a caller in the hub's own view of that RBAC may take to see why, ms. */
const SETTLE_MS = 500;

export interface WayOptions {
  connections: ClusterConnections;
  callers: Pick<CallersDirectory, 'admit' | 'settled'>;
  call: MemberCall | DestinationCall | { fault: string };
  /** The protocol of an upgrade. */
  upgrade: string | undefined;
}

/** Rejects with a `StatusError` where the call may not go there, or cannot. RBAC has let the caller use the proxy. */
export async function wayInto(context: ExtensionContext, options: WayOptions): Promise<WayInto> {
  const { name = '', user, request, rest } = context;
  const { callers, call } = options;
  const proxy = { group: PROXY_GROUP, resource: 'clusters/proxy' };
  if ('fault' in call) throw badRequest(`this is no path of cluster "${name}": ${call.fault}`);
  const connection = reachable(context, { ...options, call });
  const known = await callers.settled(name, (now) => mayCome(user.username, now), SETTLE_MS);
  if (!known)
    throw failure(503, `cluster "${name}" cannot be reached: the hub has just started and is reading its RBAC`);
  const identity = forwardedIdentity(user, known);
  if ('refused' in identity) throw refusedFor('SystemUser', forbidden(proxy, name, identity.refused));
  if (!mayCome(user.username, known)) callers.admit(name, user.username);
  const leftOut = user.groups.filter((group) => !group.startsWith(SYSTEM_PREFIX) && !known.groups.includes(group));
  const path = memberPath(rest, request.query);
  return { transport: connection.transport, tunnelled: connection.tunnelled ?? true, path, identity, leftOut };
}

/** The cluster that a call names. Rejects where there is none, where its mode does not let the call in, and where it is away. */
export function reachable(
  { name = '', resource }: ExtensionContext,
  { connections, call, upgrade }: Pick<WayOptions, 'connections' | 'upgrade'> & { call: MemberCall | DestinationCall },
): ReachableCluster {
  const connection = connections.find(name);
  if (!connection) throw notFound({ group: GROUP, resource: 'clusters' }, name);
  const fault = modeFault(stricterMode(connection.reach?.mode, undefined), call, { upgrade });
  if (fault !== undefined) {
    const why = `cluster "${name}" does not let this call in: ${fault}. Whoever may update clusters.${GROUP} "${name}" in the hub can change it`;
    throw refusedFor('ReachMode', forbidden({ group: PROXY_GROUP, resource: `${resource}/proxy` }, name, why));
  }
  if ('unavailable' in connection) {
    throw failure(503, `cluster "${name}" cannot be reached: ${connection.unavailable}`);
  }
  return connection;
}
