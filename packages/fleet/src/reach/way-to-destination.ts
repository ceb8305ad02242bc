import type { ExtensionContext } from '@asterism/apiserver';
import { identityFault } from '@asterism/client';
import { forbidden } from '@asterism/machinery';
import { PROXY_GROUP } from '../api/index.ts';
import { DESTINATIONS, type DestinationCall, wirePath } from './destination-call.ts';
import { reachable, type WayInto, type WayOptions } from './way-into.ts';

/**
 * The way to a server that a member's administrator listed to the agent there; whether it is listed, the agent alone knows. Throws a
 * `StatusError` where the call may not go there, or cannot. RBAC has let the caller use `destinations/proxy` of that cluster.
 */
export function wayToDestination(
  context: ExtensionContext,
  options: Pick<WayOptions, 'connections' | 'upgrade'> & { call: DestinationCall },
): WayInto {
  const { name = '', user } = context;
  const { transport, tunnelled } = reachable(context, options);
  if (tunnelled === false) {
    throw forbidden(
      { group: PROXY_GROUP, resource: `${DESTINATIONS}/proxy` },
      name,
      `the hub dials the API server of cluster "${name}" by itself, and dials nothing else: destinations are reached through the ` +
        'agent of a cluster in Pull or Dual',
    );
  }
  const { call } = options;
  const identity = { user: user.username, groups: [] };
  const fault = identityFault(identity);
  if (fault !== undefined) {
    const why = `${fault} cannot be sent to an agent: no header carries it unchanged`;
    throw forbidden({ group: PROXY_GROUP, resource: `${DESTINATIONS}/proxy` }, name, why);
  }
  return { transport, tunnelled: true, path: wirePath(call), destination: call.destination, identity, leftOut: [] };
}
