import type { ExtensionContext } from '@asterism/apiserver';
import type { Impersonation, Transport } from '@asterism/client';
import { badRequest, failure, forbidden, notFound } from '@asterism/machinery';
import { GROUP, PROXY_GROUP } from '../api/index.ts';
import type { ClusterConnections } from '../join/connect/cluster-connections.ts';
import { forwardedIdentity } from './forwarded-identity.ts';
import type { MemberCall } from './member-call.ts';
import { modeFault, stricterMode } from './reach-mode.ts';

/** Where a call goes, and as whom. */
export interface WayInto {
  transport: Transport;
  tunnelled: boolean;
  identity: Impersonation;
}

export interface WayOptions {
  connections: ClusterConnections;
  call: MemberCall | { fault: string };
  /** The protocol of an upgrade. */
  upgrade: string | undefined;
}

/** Throws a `StatusError` where the call may not go there, or cannot. RBAC has let the caller use the proxy. */
export function wayInto({ name = '', subresource, user }: ExtensionContext, options: WayOptions): WayInto {
  const { connections, call, upgrade } = options;
  const proxy = { group: PROXY_GROUP, resource: 'clusters/proxy' };
  if (subresource !== 'proxy') {
    throw failure(404, `clusters of ${PROXY_GROUP} have nothing but proxy and attach; the objects are in ${GROUP}`);
  }
  if ('fault' in call) throw badRequest(`this is no path of cluster "${name}": ${call.fault}`);
  const identity = forwardedIdentity(user);
  if ('refused' in identity) throw forbidden(proxy, name, identity.refused);
  const connection = connections.find(name);
  if (!connection) throw notFound({ group: GROUP, resource: 'clusters' }, name);
  const fault = modeFault(stricterMode(connection.reach?.mode, undefined), call, { upgrade });
  if (fault !== undefined) {
    throw forbidden(
      proxy,
      name,
      `cluster "${name}" does not let this call in: ${fault}. Whoever may update clusters.${GROUP} "${name}" in the hub can change it`,
    );
  }
  if ('unavailable' in connection) {
    throw failure(503, `cluster "${name}" cannot be reached: ${connection.unavailable}`);
  }
  return { transport: connection.transport, tunnelled: connection.tunnelled ?? true, identity };
}
