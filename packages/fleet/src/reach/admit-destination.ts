import type { TransportRequest } from '@asterism/client';
import { withoutClaims } from './admit-call.ts';
import { CALLER_HEADER, readCaller } from './caller-header.ts';
import { readDestinationCall } from './destination-call.ts';
import { modeFault, type ReachMode } from './reach-mode.ts';

export interface AdmitDestinationOptions {
  /** As `readOrigin` writes them. */
  destinations: readonly string[];
  /** What callers may do. */
  mode: ReachMode;
  upgrade: boolean;
}

/**
 * What an agent lets through to another server than its own API server, whatever the hub sends.
 *
 * - (D1) Only to what its administrator listed: the same scheme, name and port.
 * - (D2) Only for somebody: the hub itself has nothing to do there. Who it is the other server is not told.
 * - (D3) No credential and no claim that came along is passed on.
 * - (D4) What the cluster's mode does not let through is refused here too.
 */
export function admitDestination(
  request: TransportRequest,
  { destinations, mode, upgrade }: AdmitDestinationOptions,
): TransportRequest | { refused: string } {
  const call = readDestinationCall(request.method, request.path);
  if ('fault' in call) return { refused: call.fault };
  const { destination } = call;
  if (!destinations.includes(destination)) {
    return {
      refused:
        `${destination} is not among the destinations of this agent, which are none unless its administrator lists them ` +
        `(aster agent --allow-destination ${destination})`,
    };
  }
  if (!readCaller(request.headers?.[CALLER_HEADER])) {
    return { refused: 'the hub does not say whose call it is, and itself has nothing to do there' };
  }
  const protocol = upgrade ? [request.headers?.['upgrade'] ?? ''].flat().join() : undefined;
  const fault = modeFault(mode, call, { upgrade: protocol });
  if (fault !== undefined) return { refused: fault };
  return { ...request, headers: withoutClaims(request.headers ?? {}).headers };
}
