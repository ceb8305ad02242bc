/** The API server that a generator sends to, and as whom. */
export interface LoadTarget {
  url: string;
  /** PEM. */
  ca: string;
  /** Without it, and without a certificate: as `system:anonymous`. */
  token?: string;
  /** Of a client, PEM. */
  certificate?: { cert: string; key: string };
}

/** Requests of one kind, so many at once, for so long. */
export interface Load {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Here and in the body `{n}` stands for the number of the request, and `{i}` for that modulo `modulo` (default none). */
  path: string;
  contentType?: string;
  body?: string;
  /** The number of the first request. Default 0. */
  first?: number;
  modulo?: number;
  /** In flight at any time. */
  concurrency: number;
  /** Between an answer and the next request that takes its place. Default 0. */
  pauseMs?: number;
  /** No request begins after so many seconds, and none after so many requests. */
  seconds: number;
  most: number;
}

export interface LoadResult {
  requests: number;
  wallMs: number;
  /** From sending to the last byte of the answer. */
  p50Ms: number;
  p99Ms: number;
  /** Of the answers' bodies. */
  bytes: number;
}

export interface WatchAsk {
  path: string;
  watchers: number;
  /** How many objects each of them hears of at once. */
  existing: number;
}

/** What a generator's parent may ask for, by its name. */
export interface LoadCommands {
  /** Opens so many HTTP/2 connections for short requests. */
  connect: { ask: { target: LoadTarget; sessions: number }; answer: null };
  run: { ask: Load; answer: LoadResult };
  /** Opens watches, at most 100 on a connection, and waits for the `existing` objects; they stay until `unwatch`. */
  watch: { ask: WatchAsk; answer: null };
  /** Sends the requests one after the other, each when every watcher has heard of the last. */
  fanOut: { ask: Load; answer: LoadResult };
  unwatch: { ask: null; answer: null };
}

export type LoadCommand = keyof LoadCommands;

export type ToGenerator = { [C in LoadCommand]: { id: number; command: C; ask: LoadCommands[C]['ask'] } }[LoadCommand];

export type FromGenerator = { id: number; answer: unknown } | { id: number; failure: string };
