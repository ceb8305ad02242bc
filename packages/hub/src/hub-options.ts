import type { AuditOptions, OidcIssuer } from '@asterism/apiserver';
import type { Connection } from '@asterism/client';
import type { ReachLimits } from '@asterism/fleet/reach';
import type { LeaderElectionTiming, Logger } from '@asterism/runtime';

export { findOidcFault, type OidcFault } from '@asterism/apiserver';
export type { AuditOptions, OidcIssuer };

export interface HubOptions {
  /** Made where it is missing, for this user alone. One hub at a time. */
  dataDir: string;
  /** Default `127.0.0.1:7443`; port 0 takes a free one. */
  listen?: { host: string; port: number };
  /** Names and addresses by which others reach the hub, beside `localhost` and the one it listens on. */
  advertise?: readonly string[];
  /** Writes down what was asked of the hub's API server, and by whom. */
  audit?: AuditOptions;
  /**
   * Where `/metrics`, `/healthz` and `/readyz` of the hub's controllers are served, in plain HTTP and to whoever asks: an address
   * of this machine alone, or of a network that is trusted. Nowhere, where it is absent. Port 0 takes a free one.
   */
  status?: { host: string; port: number } | undefined;
  /** OpenID providers whose ID tokens name people, for the hub's RBAC. */
  oidc?: OidcIssuer[];
  /** The longest that a certificate is good for which this hub signs, its agents' among them, ms. Default a year. */
  signingDurationMs?: number | undefined;
  /** How many calls to members may be under way at one time. Default: 200 of one user to one cluster, 1,000 of all. */
  reachLimits?: Partial<ReachLimits> | undefined;
  logger: Logger;
  timing?: Partial<HubTiming>;
}

/** All in milliseconds. */
export interface HubTiming {
  /** Silence of a cluster's Lease after which nobody knows how it is. Default 40 s. */
  heartbeatTimeoutMs: number;
  /** How long the hub's own certificates are valid, which it renews while it runs. Default a year. */
  certificateLifeMs: number;
}

export interface HubOnKubernetesOptions {
  /** The kube-apiserver that holds the fleet, as an identity that may do there what `hubManifests` of `@asterism/fleet/join` lists. */
  host: Connection;
  /** Made where it is missing, for this user alone. One hub process at a time. */
  dataDir: string;
  /** Where the host's aggregator, and with embedded templates people too, reach this process. Port 0 takes a free one. */
  listen: { host: string; port: number };
  /**
   * By which name or address they reach it, where that is not `listen`: a DNS name or an IP address that the host resolves and
   * dials itself. Required where `listen` is every address of the machine.
   */
  advertise?: { host: string; port?: number | undefined } | undefined;
  /**
   * Who takes calls of several processes on this host: the one that leads (default), or all, as addresses of a Service. To get to that,
   * the kube-apiserver needs kube-proxy beside it, or `--enable-aggregator-routing`. The same for all of them.
   */
  serve?: 'leader' | 'all' | undefined;
  /**
   * Where the other hub processes on this host bring their links, and how they reach it. Default: `listen.host` at a free port, and
   * the host of `advertise`.
   */
  replica?:
    | {
        listen?: { host: string; port: number } | undefined;
        advertise?: { host: string; port?: number | undefined } | undefined;
      }
    | undefined;
  /**
   * Where what is placed is written. `host`: in the kube-apiserver, which then must run no workload controllers. `embedded`: in
   * an API server of this process beside it, with its data in the data dir.
   */
  templates: 'host' | 'embedded';
  /** What this process calls itself in the leader's Lease, before a random part. Default: the machine's name. */
  identity?: string | undefined;
  /**
   * Where `/metrics`, `/healthz` and `/readyz` of the hub's controllers are served, in plain HTTP and to whoever asks: an address
   * of this machine alone, or of a network that is trusted. Nowhere, where it is absent. Port 0 takes a free one.
   */
  status?: { host: string; port: number } | undefined;
  /** Writes down what was asked of this process, and by whom: the host has a log of its own. */
  audit?: AuditOptions;
  /** How many calls to members may be under way at one time. Default: 200 of one user to one cluster, 1,000 of all. */
  reachLimits?: Partial<ReachLimits> | undefined;
  logger: Logger;
  timing?: (Partial<HubTiming> & LeaderElectionTiming) | undefined;
}

export const DEFAULT_LISTEN = { host: '127.0.0.1', port: 7443 } as const;
