import { type Client, type Clock, readBody, type Transport } from '@asterism/client';
import type { Logger } from '@asterism/runtime';
import {
  type ConnectionOffer,
  offerHeaders,
  runTunnelAgent,
  TUNNEL_PROTOCOL,
  TunnelError,
  type TunnelAgentState,
  type TunnelCounters,
} from '@asterism/tunnel';
import { type Cluster, PROXY_GROUP, VERSION } from '../api/index.ts';
import { admitCall } from './admit-call.ts';
import { DEFAULT_REACH_MODE, type ReachMode } from './reach-mode.ts';

export interface ReachAgentOptions {
  clusterName: string;
  syncMode: Cluster['spec']['syncMode'];
  /** With the agent's own certificate. */
  hub: Client;
  /** The member's API server, as the agent: the one destination there is. */
  member: Transport;
  /** What callers may do here at this moment, whatever the hub lets through. Default: all that RBAC lets them. */
  mode?: () => ReachMode;
  logger: Logger;
  clock?: Clock;
  /** Filled while it runs. */
  counters?: TunnelCounters;
  onStateChange?: (state: TunnelAgentState) => void;
}

/** Keeps the tunnel to the hub until the signal aborts, and admits through it what {@link admitCall} lets in. */
export async function runReachAgent(options: ReachAgentOptions, signal: AbortSignal): Promise<void> {
  const { clusterName, syncMode, hub, member, logger, clock, counters, onStateChange } = options;
  const mode = options.mode ?? ((): ReachMode => DEFAULT_REACH_MODE);
  const path = `/apis/${PROXY_GROUP}/${VERSION}/clusters/${encodeURIComponent(clusterName)}/attach`;
  await runTunnelAgent({
    dial: (offer, dialSignal) => dialHub(hub.transport, path, offer, dialSignal),
    target: member,
    admit: (request, { upgrade }) => admitCall(request, { syncMode, mode: mode(), upgrade }),
    logger,
    clock,
    counters,
    onStateChange,
    signal,
  });
}

/** Answers of an aggregator that has no hub behind it now (503), or none yet (404): it comes back, and is then not to wait. */
const AWAY: ReadonlySet<number> = new Set([404, 500, 502, 503, 504]);
/** The least time before such a hub is asked again, ms; one that says no is left alone for longer. */
const AWAY_RETRY_MS = 1_000;

/**
 * POST, so that to open a tunnel is a `create` and never a mere reading. A kube-apiserver's aggregator passes any method and any
 * protocol of an upgrade on, and everything behind the 101 both ways (`UpgradeAwareHandler`, the same from 1.20 to 1.36).
 */
async function dialHub(hub: Transport, path: string, offer: ConnectionOffer, signal: AbortSignal) {
  const headers = { ...offerHeaders(offer), connection: 'Upgrade', upgrade: TUNNEL_PROTOCOL };
  const answer = await hub.upgrade({ method: 'POST', path, headers, signal });
  if ('socket' in answer) return answer.socket;
  const text = (await readBody(answer.body, 'the hub', signal)).toString();
  const retryAfter = Number(answer.headers['retry-after'] ?? Number.NaN);
  const awayMs = AWAY.has(answer.status) ? AWAY_RETRY_MS : undefined;
  throw new TunnelError('REFUSED', `the hub answered ${answer.status} to the tunnel: ${text.slice(0, 300)}`, {
    retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : awayMs,
  });
}
