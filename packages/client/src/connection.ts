import type { ExecConfig } from './kubeconfig/kubeconfig.ts';

/** How a connection proves who it is. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'token'; token: string }
  /** A token in a file that somebody else renews, as a pod's service account; read again every minute. */
  | { kind: 'tokenFile'; path: string }
  /** A client certificate, both in PEM. */
  | { kind: 'certificate'; cert: string; key: string }
  /** A program that prints an `ExecCredential` of `client.authentication.k8s.io`. */
  | { kind: 'exec'; exec: ExecConfig };

/** Whom the server shall take the caller for, if RBAC lets it (`impersonate`). */
export interface Impersonation {
  user: string;
  groups?: readonly string[] | undefined;
  uid?: string | undefined;
  extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** All that it takes to talk to one API server as one identity. */
export interface Connection {
  /** `https://host:port`, or `http://`, with a path below which the API stands if it is not the root. */
  server: string;
  /** PEM of the authorities that the server's certificate is checked against; the system's own when absent. */
  caData?: string | undefined;
  /** The name that the server's certificate must bear when it differs from the host of `server`. */
  tlsServerName?: string | undefined;
  /** Leaves the server's certificate unchecked. Only ever what a user asked for by name. */
  insecureSkipTlsVerify?: boolean | undefined;
  /**
   * `http://[user:password@]host:port`, or `https://`, of the proxy by which the server is reached (CONNECT); directly when absent.
   * Nothing looks into the environment by itself: see `proxyFromEnvironment`.
   */
  proxyUrl?: string | undefined;
  credential: Credential;
  impersonate?: Impersonation | undefined;
}
