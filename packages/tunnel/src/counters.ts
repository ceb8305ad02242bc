import type { Duplex } from 'node:stream';
import type { ConnectionKind } from './wire/connection-offer.ts';
import { lineOf } from './wire/socket.ts';

/** Why a connection ended; the label of the reconnect counter. */
export type EndReason =
  | 'closed' /* by the other end, in order */
  | 'reset' /* the socket broke */
  | 'dead' /* no answer to a PING */
  | 'drained' /* LEAVE */
  | 'replaced' /* by a newer connection of the same slot */
  | 'disconnected' /* by this end, on purpose */
  | 'handshake'; /* no frame came */

/** What one end of a tunnel counts. Numbers only grow, but for `openStreams`, `connections`, `overWebSocket` and
 * `roundTripMs`. */
export interface TunnelCounters {
  /** Calls that run now, spliced connections among them. */
  openStreams: number;
  /** Calls that were ever begun. */
  streams: number;
  /** Calls that were broken off, by cause. */
  resets: Record<string, number>;
  /** Connections that stand now. */
  connections: Record<ConnectionKind, number>;
  /** Of those that stand now, how many go over WebSocket. */
  overWebSocket: number;
  /** Connections that ended, by reason: each is followed by a reconnect. */
  ended: Partial<Record<EndReason, number>>;
  /** Bytes of finished and running connections, as the carrier saw them. */
  bytesReceived: number;
  bytesSent: number;
  /** Milliseconds: the shortest of the last PINGs of a connection that were answered, a minute's. */
  roundTripMs: number | undefined;
}

/** Counts a connection that begins to stand (1), or stands no more (-1). */
export function countConnection(counters: TunnelCounters, kind: ConnectionKind, carrier: Duplex, by: 1 | -1): void {
  counters.connections[kind] += by;
  // A carrier of messages stands on a line that is not itself.
  if (lineOf(carrier) !== carrier) counters.overWebSocket += by;
}

export function createTunnelCounters(): TunnelCounters {
  return {
    openStreams: 0,
    streams: 0,
    resets: {},
    connections: { short: 0, long: 0, upgrade: 0 },
    overWebSocket: 0,
    ended: {},
    bytesReceived: 0,
    bytesSent: 0,
    roundTripMs: undefined,
  };
}
