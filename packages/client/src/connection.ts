import type { ExecConfig } from './kubeconfig/kubeconfig.ts';

/** A client certificate and its key, both in PEM. */
export interface ClientCertificate {
  cert: string;
  key: string;
}

/**
 * How a connection proves who it is. A token can go along with a client certificate: a gateway may ask for the certificate, and a server
 * that accepts both takes the certificate first.
 */
export type Credential =
  | { kind: 'none' }
  | { kind: 'token'; token: string; certificate?: ClientCertificate }
  /**
   * A token in a file that another program renews, as a pod's service account. It is read again every minute. If the file cannot be read or
   * is empty, the last token is used, or `token` if there was none yet.
   */
  | { kind: 'tokenFile'; path: string; token?: string; certificate?: ClientCertificate }
  | ({ kind: 'certificate' } & ClientCertificate)
  /** A program that prints an `ExecCredential` of `client.authentication.k8s.io`. */
  | { kind: 'exec'; exec: ExecConfig };

/** Whom the server shall take the caller for, if RBAC lets it (`impersonate`). */
export interface Impersonation {
  user: string;
  groups?: readonly string[] | undefined;
  uid?: string | undefined;
  extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The client certificate of a credential, alone or next to a token. A credential plugin may give one later. */
export function clientCertificate(credential: Credential): ClientCertificate | undefined {
  if (credential.kind === 'certificate') return { cert: credential.cert, key: credential.key };
  return 'certificate' in credential ? credential.certificate : undefined;
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
