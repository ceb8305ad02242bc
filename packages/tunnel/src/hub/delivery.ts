import type { TransportRequest, TransportResponse } from '@asterism/client';
import { Reset } from '../frames/frame.ts';
import { TunnelError } from '../tunnel-error.ts';
import { forwardedHeaders, headerBytes, markLong, type WireHeaders } from '../wire/headers.ts';
import type { StalledBodies } from './stalled-bodies.ts';

/** What became of a request: an answer, or why there is none and whether the agent may have seen it. */
export type Delivery = { response: TransportResponse } | { failed: Error; unprocessed: boolean };

export interface SendContext {
  /** The agent, for messages. */
  name: string;
  maxHeaderBytes: number;
  stalled: StalledBodies;
  /** Each holds the request for as long as its stream is open. */
  running: readonly Set<RunningRequest>[];
  /** Why the connection ended, if it did. */
  ended: () => string | undefined;
  onReset: (cause: string) => void;
}

/** A request whose answer is not complete. */
export interface RunningRequest {
  long: boolean;
  /** Breaks it off. */
  fail(error: Error): void;
}

/** The headers to send, of which the values are not checked yet. @throws TunnelError for a request that cannot be sent at all. */
export function requestHeaders(request: TransportRequest, { name, maxHeaderBytes }: SendContext): WireHeaders {
  const headers = forwardedHeaders(request.headers);
  const bytes = headerBytes(headers) + Buffer.byteLength(request.path);
  if (bytes > maxHeaderBytes) {
    throw new TunnelError(
      'LIMIT',
      `tunnel to "${name}": the headers of ${request.method} take ${bytes} bytes, ${maxHeaderBytes} are the limit`,
    );
  }
  if (!/^\/[\x21-\x7e]*$/.test(request.path)) {
    throw new TunnelError('PROTOCOL', `tunnel to "${name}": not a path: ${JSON.stringify(request.path)}`);
  }
  if (request.long) markLong(headers);
  return headers;
}

const RESET_CAUSES: Record<number, string> = {
  [Reset.failed]: 'broken off',
  [Reset.refused]: 'refused',
  [Reset.cancelled]: 'cancelled',
  [Reset.tooLarge]: 'too large',
};

/** How a reset of this code is counted. */
export function resetCause(code: number): string {
  return RESET_CAUSES[code] ?? `code ${code}`;
}

/** Why a stream that closed with this code has no whole answer. */
export function failureOf(code: number, { name, ended }: SendContext): TunnelError {
  const reason = ended();
  if (reason !== undefined) return new TunnelError('LOST', `tunnel to "${name}": the connection ended (${reason})`);
  if (code === Reset.refused) {
    return new TunnelError('LOST', `tunnel to "${name}": the agent takes no new requests; try again`);
  }
  if (code === Reset.tooLarge) {
    return new TunnelError('LIMIT', `tunnel to "${name}": the headers of the answer or the request are too large`);
  }
  return new TunnelError('TARGET', `tunnel to "${name}": the answer broke off before its end`);
}
