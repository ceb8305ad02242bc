import { ClientError } from '@asterism/client';

/**
 * Why a tunnelled call failed. Each code is preceded by `ERR_TUNNEL_`.
 *
 * - `NOT_CONNECTED`: no agent of that name is connected now; nothing was sent.
 * - `LOST`: the connection that carried the call ended before the call did.
 * - `REFUSED`: the agent's allow-list, or the hub at the upgrade, said no.
 * - `TARGET`: the agent could not reach its target, or the target broke off in the middle of an answer.
 * - `LIMIT`: a limit of the tunnel (streams, size of headers) would be passed.
 * - `STALLED`: the reader took nothing while its buffers held more than the tunnel may keep.
 * - `BLOCKED`: something between agent and hub does not let the upgrade pass, or breaks what follows it.
 * - `PROTOCOL`: the other end does not speak this protocol.
 * - `TIMEOUT`: the other end did not answer a handshake in time.
 * - `CLOSED`: this end was closed.
 */
export type TunnelErrorReason = keyof typeof STATUS_BY_REASON;

export type TunnelErrorCode = `ERR_TUNNEL_${TunnelErrorReason}`;

const STATUS_BY_REASON = {
  NOT_CONNECTED: 503,
  LOST: 502,
  REFUSED: 403,
  TARGET: 502,
  LIMIT: 429,
  STALLED: 502,
  BLOCKED: 502,
  PROTOCOL: 502,
  TIMEOUT: 504,
  CLOSED: 503,
} as const;

export interface TunnelErrorDetails {
  cause?: unknown;
  /** Milliseconds that the other side asked to wait before the next try. */
  retryAfterMs?: number | undefined;
}

/**
 * The error of this package: a {@link ClientError}, so that whoever holds a `Transport` need not know that it is a tunnel. The
 * message names the agent, what failed and what to do; it never holds a header's value.
 */
export class TunnelError extends ClientError {
  readonly reason: TunnelErrorReason;
  readonly retryAfterMs: number | undefined;

  constructor(reason: TunnelErrorReason, message: string, details: TunnelErrorDetails = {}) {
    super(message, { code: `ERR_TUNNEL_${reason}`, cause: details.cause });
    this.reason = reason;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The HTTP status that a proxy in front of the tunnel answers for this error. */
  get statusCode(): number {
    return STATUS_BY_REASON[this.reason];
  }
}

export function isTunnelError(error: unknown, reason?: TunnelErrorReason): error is TunnelError {
  return error instanceof TunnelError && (reason === undefined || error.reason === reason);
}
