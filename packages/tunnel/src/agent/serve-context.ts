import type { Clock, Transport, TransportRequest } from '@asterism/client';
import type { BufferCollection } from '@asterism/runtime';
import type { TunnelCounters } from '../counters.ts';
import type { TunnelLimits } from '../limits.ts';
import type { TunnelLogger } from '../tunnel-logger.ts';

/** An answer of {@link Admit} that says no. The caller at the hub gets TunnelError `REFUSED` with this reason. */
export interface Refusal {
  refused: string;
}

export interface AdmitContext {
  /** Whether this is an HTTP/1.1 upgrade (exec, port-forward). */
  upgrade: boolean;
}

/** Looks at a call before it goes to the target: what it returns is sent, or refused. */
export type Admit = (request: TransportRequest, context: AdmitContext) => TransportRequest | Refusal;

/** What the agent needs to answer calls. */
export interface ServeContext {
  target: Transport;
  admit: Admit;
  limits: TunnelLimits;
  clock: Clock;
  buffers: BufferCollection;
  counters: TunnelCounters;
  logger: TunnelLogger | undefined;
}
