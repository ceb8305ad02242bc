import type { Logger } from '@asterism/runtime';

export interface HubOptions {
  /** Made where it is missing, for this user alone. One hub at a time. */
  dataDir: string;
  /** Default `127.0.0.1:7443`; port 0 takes a free one. */
  listen?: { host: string; port: number };
  /** Names and addresses by which others reach the hub, beside `localhost` and the one it listens on. */
  advertise?: readonly string[];
  logger: Logger;
  timing?: Partial<HubTiming>;
}

/** All in milliseconds. */
export interface HubTiming {
  /** Silence of a cluster's Lease after which nobody knows how it is. Default 40 s. */
  heartbeatTimeoutMs: number;
}

export const DEFAULT_LISTEN = { host: '127.0.0.1', port: 7443 } as const;
