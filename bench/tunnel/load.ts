/** What a client does at a port. */
export interface Load {
  port: number;
  kind: 'down' | 'up' | 'small';
  /** At once. */
  streams: number;
  /** Of each stream; of small calls there is 1 KiB. */
  bytes: number;
  /** How long small calls go on. Below 0, with `down`: beside one more stream that nobody reads. */
  ms: number;
}

export interface LoadAnswer {
  /** Bytes, or calls. */
  perSecond: number;
  /** Of each small call. */
  delaysMs: number[];
}
