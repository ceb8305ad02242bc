import type { AggregationOptions } from '../aggregation/aggregation-options.ts';
import type { AdmissionPluginChoice } from '../admission-plugins/plugin-names.ts';
import type { AuditOptions } from '../audit/audit-options.ts';
import type { TokenAuthenticator } from '../contract/authenticator.ts';
import type { OidcIssuer } from '../authentication/oidc-issuer.ts';
import type { StaticToken } from '../authentication/static-tokens.ts';
import type { Delegation } from '../contract/delegation.ts';
import type { Authorizer } from '../contract/authorizer.ts';
import type { ApiExtension, ConnectHandler } from '../http/extension/api-extension.ts';
import type { IdentityLimits } from '../identity-limits/identity-limit.ts';
import type { KubeletClientOptions, PodNetwork } from '../nodes/kubelet-client-options.ts';
import type { ObjectCheck } from '../registry/object-checks.ts';
import type { ServerLogger } from '../contract/server-logger.ts';
import type { Storage } from '../storage/storage.ts';
import type { AdmissionStep } from '../contract/admission-step.ts';

export interface ApiServerOptions {
  /**
   * `builtin`: every kind of Kubernetes and CustomResourceDefinitions. `none`: the extensions alone; nothing is stored and no
   * controller runs, as behind the aggregator of another API server. Default `builtin`.
   */
  kinds?: 'builtin' | 'none';
  /** `createSqliteStorage(…)` or `createMemoryStorage()`; may be left out with kinds `none`. Closed by {@link ApiServer.stop}. */
  storage?: Storage;
  /**
   * From `createDelegation(…)`: another API server says who callers are and what they may do, instead of `clientCa`,
   * `staticTokens`, `tokenAuthenticators`, `bootstrapTokens`, `oidc`, `serviceAccounts`, `signer` and `authorization`, which must
   * not be given then. It is not disposed of with the server.
   */
  delegation?: Delegation;
  /** Without it the server is reached in process only, by `handle` and `transport`. Port 0 takes a free one. */
  listen?: { host: string; port: number };
  /** PEM. Required where `listen` is given. */
  tls?: { cert: string; key: string };
  /** PEM bundle: client certificates that chain to it name a user (CN) and groups (O). */
  clientCa?: string;
  /** PEM: what clients check this server's certificate against, published as `kube-root-ca.crt`. Default `signer`'s, else `clientCa`. */
  rootCa?: string;
  staticTokens?: StaticToken[];
  /** Further ways to read a bearer token, asked after static tokens. */
  tokenAuthenticators?: TokenAuthenticator[];
  /** Accepts tokens that Secrets of type `bootstrap.kubernetes.io/token` in `kube-system` hold. Default false. */
  bootstrapTokens?: boolean;
  /** OpenID providers whose ID tokens name users. Keys are read from them with the first token of theirs. */
  oidc?: OidcIssuer[];
  /** Lets callers without credentials in as `system:anonymous`. Default true, as upstream. */
  anonymous?: boolean;
  /** Issues and accepts ServiceAccount tokens. `key`: P-256 private key, PEM (PKCS#8). */
  serviceAccounts?: { issuer: string; key: string };
  /** The CA that signs approved CertificateSigningRequests, PEM. */
  signer?: { cert: string; key: string };
  /** The longest that a certificate is good for which `signer` signs, ms. Default a year, as upstream's `--cluster-signing-duration`. */
  signingDurationMs?: number;
  /** Signers of client certificates served beside Kubernetes' own. */
  signerNames?: string[];
  /**
   * Groups with the rights of an administrator. Besides `system:masters`, no CertificateSigningRequest can ask for a client
   * certificate of these groups, and `signer` signs none.
   */
  privilegedGroups?: readonly string[];
  /** Default `RBAC`. */
  authorization?: 'RBAC' | 'AlwaysAllow';
  /**
   * Which of Kubernetes' own admission plugins run besides those that always do. Default: those that do upstream. Throws where
   * there is none of a name.
   */
  admissionPlugins?: AdmissionPluginChoice;
  /** What objects of some kinds must fulfil beyond their schema: who brings a fault in is refused (422). What was there before may stay. */
  checks?: readonly ObjectCheck[];
  /** Further steps between authorization and storage, after the server's own; they may ask its authorizer. Default: none. */
  admission?: (authorizer: Authorizer) => readonly AdmissionStep[];
  /** How much of some kinds one user may store, so that the least of them cannot fill the disk. Default: no limits. */
  identityLimits?: IdentityLimits;
  /** From which Services get their cluster addresses: IPv4 in CIDR form. Default `10.96.0.0/16`. */
  serviceAddressRange?: string;
  /** The Service `default/kubernetes`, by which workloads find this server. Default true. */
  kubernetesService?: boolean;
  /**
   * The IP address at which the endpoints of Service `default/kubernetes` say that this server is, with the port on which it listens;
   * `none` leaves its endpoints to others. Default: where it listens, or this machine's first address where that is every one or none
   * that others can reach.
   */
  advertiseAddress?: string;
  extensions?: ApiExtension[];
  /** How the servers are reached that APIServices name. */
  aggregation?: AggregationOptions;
  /**
   * What is behind `pods/log`, `pods/exec` and the like, before `kubelet` and `podNetwork`. Where none of them serves one, it is
   * answered 501.
   */
  connects?: ConnectHandler[];
  /** Takes `pods/log`, `exec`, `attach` and `portforward`, and `nodes/proxy`, to the kubelets of the Nodes. */
  kubelet?: KubeletClientOptions;
  /** Serves `pods/proxy` and `services/proxy`. */
  podNetwork?: PodNetwork;
  /** Namespace life cycle, garbage collection, service accounts, CSR signing. Default true. */
  controllers?: boolean;
  version?: { gitVersion: string };
  /**
   * Shows versions that 1.36 has dropped and clients of 1.20 look for (`policy/v1beta1`, `batch/v1beta1` …) to those who ask for
   * discovery group by group: last in their groups, never preferred. Clients of today ask for aggregated discovery, which never
   * has them. They are served in any case. Default true.
   */
  legacyVersions?: boolean;
  /** Requests served at once, watches apart; as many of each user may wait, and more are answered 429. Default 400. */
  maxInFlight?: number;
  /** Writes down who did what. `start()` rejects with `AuditError` where its policy is not valid or its file cannot be opened. */
  audit?: AuditOptions;
  logger?: ServerLogger;
  /** Milliseconds since 1970. */
  clock?: () => number;
  /** From 0 to below 1, for the names, addresses and ports that the server chooses. Default `Math.random`. */
  random?: () => number;
}
