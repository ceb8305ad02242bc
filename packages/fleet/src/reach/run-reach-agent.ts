import {
  type Client,
  ClientError,
  type Clock,
  READ_LIMITS,
  readStart,
  type Transport,
  type TransportResponse,
} from '@asterism/client';
import { parseJson } from '@asterism/machinery';
import type { Logger } from '@asterism/runtime';
import {
  type CarrierKind,
  type ConnectionOffer,
  dialCarriers,
  requestCarrier,
  runTunnelAgent,
  TunnelError,
  type TunnelAgentState,
  type TunnelCounters,
} from '@asterism/tunnel';
import { type Cluster, PROXY_GROUP, VERSION } from '../api/index.ts';
import { admitCall } from './admit-call.ts';
import { admitDestination } from './admit-destination.ts';
import { AgentTarget, type Destinations } from './agent-target.ts';
import { isDestinationPath } from './destination-call.ts';
import { DEFAULT_REACH_MODE, type ReachMode } from './reach-mode.ts';

export interface ReachAgentOptions {
  clusterName: string;
  syncMode: Cluster['spec']['syncMode'];
  /** With the agent's own certificate. */
  hub: Client;
  /** The member's API server, as the agent. */
  member: Transport;
  /** What else may be dialled. Default: nothing. */
  destinations?: Destinations | undefined;
  /** What callers may do here at this moment, whatever the hub lets through. Default: all that RBAC lets them. */
  mode?: () => ReachMode;
  logger: Logger;
  clock?: Clock;
  /** Filled while it runs. */
  counters?: TunnelCounters;
  onStateChange?: (state: TunnelAgentState) => void;
}

/**
 * Keeps the tunnel to the hub until the signal aborts, and admits through it what {@link admitCall} and {@link admitDestination} let
 * in. Throws a `ClientError` where a destination is none.
 */
export async function runReachAgent(options: ReachAgentOptions, signal: AbortSignal): Promise<void> {
  const { clusterName, syncMode, hub, member, logger, clock, counters, onStateChange } = options;
  const mode = options.mode ?? ((): ReachMode => DEFAULT_REACH_MODE);
  const path = `/apis/${PROXY_GROUP}/${VERSION}/clusters/${encodeURIComponent(clusterName)}/attach`;
  const carriers = dialCarriers({
    dial: (by, offer, dialSignal) => dialHub(hub.transport, path, by, offer, dialSignal),
    clock,
    logger,
  });
  await using target = new AgentTarget(member, options.destinations);
  const { destinations } = target;
  await runTunnelAgent({
    dial: carriers.dial,
    onTried: carriers.onTried,
    target,
    admit: (request, { upgrade }) =>
      isDestinationPath(request.path)
        ? admitDestination(request, { destinations, mode: mode(), upgrade })
        : admitCall(request, { syncMode, mode: mode(), upgrade }),
    logger,
    clock,
    counters,
    onStateChange,
    signal,
  });
}

/** Answers of an aggregator that has no hub behind it now (503), or none yet (404): it comes back, and is then not to wait. */
const AWAY: ReadonlySet<number> = new Set([404, 500, 502, 503, 504]);
/** The least time before such a hub is asked again, ms. */
const AWAY_RETRY_MS = 1_000;
/** One that says no is left alone for longer. */
const REFUSED_RETRY_MS = 10_000;

/**
 * What an API server says itself, in a `Status`, when what asked for an upgrade reached it without one: something in between took
 * that away (426), or put another in its place (400).
 */
const UPGRADE_LOST: ReadonlySet<number> = new Set([400, 426]);

/** The connection was there, and then was gone without an answer that is one. */
const BROKEN = /^(ECONNRESET|EPIPE|ERR_CONNECTION_LOST|HPE_.*)$/;

/**
 * To open a tunnel is a `create`, a POST where the carrier lets it be one. A kube-apiserver's aggregator passes any method and any
 * protocol of an upgrade on, and everything behind the 101 both ways (`UpgradeAwareHandler`, the same from 1.20 to 1.36).
 */
async function dialHub(hub: Transport, path: string, by: CarrierKind, offer: ConnectionOffer, signal: AbortSignal) {
  const { method, headers, carry } = requestCarrier(by, offer);
  const answer = await hub.upgrade({ method, path, headers, signal }).catch((error: unknown) => {
    if (!(error instanceof ClientError) || !BROKEN.test(error.code)) throw error;
    throw new TunnelError('BLOCKED', error.message, { cause: error });
  });
  if (!('socket' in answer)) throw await refusal(answer, signal);
  try {
    return carry(answer.headers, answer.socket);
  } catch (error) {
    answer.socket.destroy();
    throw error;
  }
}

/** The hub's own no is a `Status`; whatever else answers stands in between. */
async function refusal({ status, headers, body }: TransportResponse, signal: AbortSignal): Promise<TunnelError> {
  const text = (await readStart(body, 'the hub', { signal, limits: READ_LIMITS.error })).toString();
  const judged = isStatus(text) && !UPGRADE_LOST.has(status);
  const retryAfter = Number(headers['retry-after'] ?? Number.NaN);
  const waitMs = AWAY.has(status) ? AWAY_RETRY_MS : REFUSED_RETRY_MS;
  const details = { retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : waitMs };
  if (judged)
    return new TunnelError('REFUSED', `the hub answered ${status} to the tunnel: ${text.slice(0, 300)}`, details);
  const shown = text
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300);
  return new TunnelError(
    'BLOCKED',
    `what stands at the hub's address answered ${status} to the tunnel: ${shown}`,
    details,
  );
}

function isStatus(text: string): boolean {
  try {
    const answer = parseJson(text) as { kind?: unknown } | null;
    return answer?.kind === 'Status';
  } catch {
    return false;
  }
}
