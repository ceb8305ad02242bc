import type { Connection } from '@asterism/client';
import type { HubAddress, RegistrationFacts } from '@asterism/fleet/join';
import type { Destinations, ReachMode } from '@asterism/fleet/reach';
import type { Logger } from '@asterism/runtime';

export interface AgentOptions {
  /** The name that this cluster shall have in the hub. */
  clusterName: string;
  /** `Push`: the hub writes here, so it is given a credential. `Pull` and `Dual`: only this agent writes. */
  syncMode: 'Push' | 'Pull' | 'Dual';
  hub: HubAddress;
  /** The agent's own API server, as the service account of `memberManifests`. */
  member: Connection;
  /**
   * Where this API server is, and the PEM of its CA (default: `member.caData`). Push needs it; told in Pull it is for people to
   * read, and a private cluster leaves it out.
   */
  endpoint?: { server: string; caBundle?: string };
  /** What the hub shall know of the cluster when it joins; afterwards the hub's administrators own it. */
  description?: RegistrationFacts;
  /** What the hub's callers may do here at most, whatever the hub's `Cluster` says. Pull and Dual: in Push the hub comes by itself. */
  reachMode?: ReachMode | undefined;
  /**
   * Other servers than its own API server to which the hub's callers get through this agent, where the hub's RBAC lets them. Default:
   * none. Pull and Dual.
   */
  destinations?: Destinations | undefined;
  logger: Logger;
  /** Stops the agent, as `stop` does. */
  signal?: AbortSignal;
  timing?: Partial<AgentTiming>;
}

/** All in milliseconds. */
export interface AgentTiming {
  /** Between two renewals of the heartbeat Lease. */
  heartbeatMs: number;
  /** At least so often the whole status is compared and written where it differs. */
  statusMs: number;
  /** At least so long between two status writes that tell of figures alone (allocated resources). */
  statusPauseMs: number;
  /** Events of the member come in bursts: so long after the first of one its status is looked at. */
  statusSettleMs: number;
  /** How long an unreachable hub or member is waited for at the start before the agent gives up. Default: for ever. */
  patienceMs: number;
  /** The first wait after a failure; it grows to `retryCapMs`. */
  retryMs: number;
  retryCapMs: number;
}

export const DEFAULT_TIMING: Readonly<AgentTiming> = {
  heartbeatMs: 10_000,
  statusMs: 5 * 60_000,
  statusPauseMs: 10_000,
  statusSettleMs: 1_000,
  patienceMs: Number.POSITIVE_INFINITY,
  retryMs: 500,
  retryCapMs: 10_000,
};
