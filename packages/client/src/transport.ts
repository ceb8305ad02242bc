import type { Duplex, Readable } from 'node:stream';

/** Header names are in lower case where they are read; either case may be given. */
export type Headers = Record<string, string | string[] | undefined>;

export interface TransportRequest {
  method: string;
  /** Path with query, from the server's root: `/api/v1/pods?limit=500`. */
  path: string;
  headers?: Headers | undefined;
  body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Aborts the request, and its response's body for as long as that is read. */
  signal?: AbortSignal | undefined;
  /**
   * Asked in the very turn of the event loop in which the request is handed to a connection, each time that it is: what it throws
   * keeps it from being sent, and is what it rejects with. By transports over sockets and tunnels.
   */
  admit?: (() => void) | undefined;
  /** Watches and followed logs: they run on connections of their own and have no response timeout. */
  long?: boolean | undefined;
  /** Its answer is too small to hold up a watch: it takes their connections, and needs none of its own. */
  besideWatches?: boolean | undefined;
}

export interface TransportResponse {
  status: number;
  headers: Headers;
  /** Must be read to its end or destroyed, unless there are {@link bytes}. */
  body: Readable;
  /** All of the body, where it came as a whole: then `body` need not be looked at. */
  bytes?: Uint8Array | undefined;
}

/** The answer to an Upgrade that the server took: from here on the socket belongs to the caller. */
export interface UpgradeResponse {
  status: 101;
  headers: Headers;
  /** What the server sent behind its answer has been put back: nothing is lost. */
  socket: Duplex;
}

/**
 * Carries requests to one API server with one identity. Direct, tunnelled and in-process connections are one contract:
 * whoever holds a transport cannot tell which it is.
 *
 * An answer of any status resolves; only what kept an answer from coming rejects (as `ClientError`, or with the signal's
 * reason).
 */
export interface Transport extends AsyncDisposable {
  /** What messages call the other end: `https://host:port`, or a cluster's name. */
  readonly server?: string;
  request(request: TransportRequest): Promise<TransportResponse>;
  /** HTTP/1.1 Upgrade (exec, port-forward). Tell the two answers apart by `'socket' in response`. */
  upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse>;
  /** Ends every connection, and with them the requests that still run. */
  close(): Promise<void>;
}
