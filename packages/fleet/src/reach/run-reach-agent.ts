import { type Client, type Clock, readBody, type Transport } from '@asterism/client';
import type { Logger } from '@asterism/runtime';
import {
  type ConnectionOffer,
  offerHeaders,
  runTunnelAgent,
  TUNNEL_PROTOCOL,
  TunnelError,
  type TunnelAgentState,
} from '@asterism/tunnel';
import { type Cluster, PROXY_GROUP, VERSION } from '../api/index.ts';
import { admitCall } from './admit-call.ts';

export interface ReachAgentOptions {
  clusterName: string;
  syncMode: Cluster['spec']['syncMode'];
  /** With the agent's own certificate. */
  hub: Client;
  /** The member's API server, as the agent: the one destination there is. */
  member: Transport;
  logger: Logger;
  clock?: Clock;
  onStateChange?: (state: TunnelAgentState) => void;
}

/** Keeps the tunnel to the hub until the signal aborts, and admits through it what {@link admitCall} lets in. */
export async function runReachAgent(options: ReachAgentOptions, signal: AbortSignal): Promise<void> {
  const { clusterName, syncMode, hub, member, logger, clock, onStateChange } = options;
  const path = `/apis/${PROXY_GROUP}/${VERSION}/clusters/${encodeURIComponent(clusterName)}/tunnel`;
  await runTunnelAgent({
    dial: (offer, dialSignal) => dialHub(hub.transport, path, offer, dialSignal),
    target: member,
    admit: (request, { upgrade }) => admitCall(request, { syncMode, upgrade }),
    logger,
    clock,
    onStateChange,
    signal,
  });
}

/** POST, so that to open a tunnel is a `create` and never a mere reading. */
async function dialHub(hub: Transport, path: string, offer: ConnectionOffer, signal: AbortSignal) {
  const headers = { ...offerHeaders(offer), connection: 'Upgrade', upgrade: TUNNEL_PROTOCOL };
  const answer = await hub.upgrade({ method: 'POST', path, headers, signal });
  if ('socket' in answer) return answer.socket;
  const text = (await readBody(answer.body, 'the hub', signal)).toString();
  const retryAfter = Number(answer.headers['retry-after'] ?? Number.NaN);
  throw new TunnelError('REFUSED', `the hub answered ${answer.status} to the tunnel: ${text.slice(0, 300)}`, {
    retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined,
  });
}
