import type { X509Certificate } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ClientCertificate } from './client-certificate.ts';
import type { UserInfo } from './user-info.ts';
import type { Sink } from './sink.ts';

/** Header values by lower-case name. */
export type Headers = Record<string, string | string[] | undefined>;

/** What is known of the other end of a connection. */
export interface Peer {
  address?: string;
  /** The client certificate that TLS proved the possession of and that chains to the server's `clientCa`. */
  certificate?: ClientCertificate;
  /**
   * It showed a certificate that does not chain to the server's `clientCa`, is out of its time, is not for clients, or has a
   * subject that cannot be read.
   */
  certificateRefused?: true;
  /**
   * The certificate that it showed and has the key of, and nothing else is known of it: for servers whose authorities change
   * while connections last.
   */
  shown?: X509Certificate;
}

/**
 * One request, whatever carried it: HTTP/1.1, HTTP/2 or a caller in the same process.
 */
export interface ApiRequest {
  method: string;
  /** Without the query; percent-encoded as it came. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
  /** The whole body. Rejects with a 413 `Status` above 3 MiB. Call either this or read `bodyStream`, not both. */
  body(): Promise<Uint8Array>;
  /** The body as it arrives, without a limit: for handlers that pass bytes on. */
  readonly bodyStream: Readable;
  /** Set by callers in the same process; the server then skips authentication. Never filled from the wire. */
  user?: UserInfo;
  /** Aborted when the caller is gone or the server stops. */
  readonly signal: AbortSignal;
  /** Aborts the signal, as the server's stop does; without it the server makes a signal of its own for what is long. */
  readonly abort?: () => void;
  peer?: Peer;
}

/**
 * One answer. A streamed body is read as fast as the caller takes it; when the caller leaves, its iterator's `return` is
 * called and the request's signal aborts.
 */
export interface ApiResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body?: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * A watch, a log, a proxied connection: its reader may pause for some minutes, where any other is cut off after one; and a
   * stop of the server ends it, where any other may finish. Default: whether Kubernetes counts the request as long-running,
   * which is so of every call by way of a `proxy`.
   */
  openEnded?: boolean;
}

/**
 * A streamed body that can bring its bytes by itself instead of being asked for them. A watch is idle nearly always, and there are
 * thousands: one that is pushed holds no promise, no iterator and no request meanwhile.
 */
export interface PushedBody extends AsyncIterable<Uint8Array> {
  /** Instead of iterating: writes to the sink from now on, as fast as that takes it, until either ends. */
  pushTo(sink: Sink): void;
  /** Called once, when it has ended or been left. */
  onEnd(listener: () => void): void;
}

export function isPushed(body: AsyncIterable<Uint8Array>): body is PushedBody {
  return 'pushTo' in body;
}
