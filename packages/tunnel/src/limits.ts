/** Sizes are bytes, times milliseconds. Both ends should run with the same. */
export interface TunnelLimits {
  /** What this end lets one stream send ahead of its reader; also the most that a stopped reader makes this end keep. */
  streamWindow: number;
  /** What this end lets the whole connection send ahead. */
  connectionWindow: number;
  maxFrameSize: number;
  /** Streams at one time on one connection. */
  maxStreams: number;
  /** Names and values of the headers of one request or answer, counted as RFC 9113 6.5.2 does (32 more for each). */
  maxHeaderBytes: number;
  /** What readers that stopped may keep buffered for one agent, in all; above it the longest stopped is reset. */
  maxStalledBytes: number;
  pingIntervalMs: number;
  /** No byte for so long after a PING: the peer is dead. */
  pingTimeoutMs: number;
  /** For the first frame, and for the answer to an upgrade connection's first byte. */
  handshakeTimeoutMs: number;
  /** For how long after an agent was lost calls wait for it to come back. 0: they fail at once. */
  reconnectWaitMs: number;
  /** How long an upgrade waits for a pipe: for the agent to dial one, by WebSocket too where an Upgrade is swallowed. */
  upgradeWaitMs: number;
  /** How long a connection is kept that nobody uses, beyond those that are kept at rest. */
  spareIdleMs: number;
  /** How long a drain lets running calls finish. */
  drainTimeoutMs: number;
}

export const DEFAULT_LIMITS: Readonly<TunnelLimits> = {
  streamWindow: 4 << 20,
  connectionWindow: 64 << 20,
  maxFrameSize: 64 << 10,
  maxStreams: 500,
  maxHeaderBytes: 64 << 10,
  maxStalledBytes: 64 << 20,
  pingIntervalMs: 10_000,
  pingTimeoutMs: 5_000,
  handshakeTimeoutMs: 10_000,
  reconnectWaitMs: 3_000,
  upgradeWaitMs: 10_000,
  spareIdleMs: 60_000,
  drainTimeoutMs: 10_000,
};
