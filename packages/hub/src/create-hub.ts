import { createApiServer, createSqliteStorage, LEAF_MS, type ServerPki } from '@asterism/apiserver';
import { type Client, type Connection, createClient, systemClock, TRUSTED_SERVER, wallNow } from '@asterism/client';
import { ADMINS_GROUP } from '@asterism/fleet/api';
import {
  type BootstrapToken,
  type BootstrapTokenOptions,
  certificatePin,
  createBootstrapToken,
  createTokenCleaner,
  STATUS_CHECKS,
} from '@asterism/fleet/join';
import { POLICY_CHECKS } from '@asterism/fleet/place';
import { type DataDir, openDataDir } from './data-dir.ts';
import { EMBEDDED_ROLES } from './default-objects.ts';
import { HubLife } from './hub-life.ts';
import { IDENTITY_LIMITS } from './identity-limits.ts';
import { ADMIN_USER, openHubKeys, tlsOf } from './hub-keys.ts';
import { DEFAULT_LISTEN, type HubOptions } from './hub-options.ts';
import { IN_PROCESS_USER } from './in-process-user.ts';
import { keepHubKeys } from './keep-hub-keys.ts';
import { install } from './install.ts';
import { formatKubeconfig, writeKubeconfig } from './kubeconfig.ts';
import { openReach, openTunnels } from './open-reach.ts';
import { runControllers } from './run-controllers.ts';
import { hostsOf, serverUrl } from './serving-address.ts';
import { startError } from './start-error.ts';
import { hubAdmission } from './hub-admission.ts';
import { FOR_TEMPLATES } from './template-admission.ts';

/** The embedded hub: API server, fleet controllers and tunnel end in one process, its data in one directory. */
export interface Hub extends AsyncDisposable {
  /** Resolves when the API answers and every controller works. Rejects with `HubError`; nothing is left open then. */
  start(): Promise<void>;
  /** Lets running calls end, closes what is open and frees the data dir. */
  stop(): Promise<void>;
  /** Rejects when a part of a started hub fails, which has then been stopped; resolves after `stop`. */
  readonly done: Promise<void>;
  /** `https://host:port`. This and what follows throws before the start. */
  readonly url: string;
  /** PEM of the authority that every client of this hub trusts. */
  readonly ca: string;
  /** The same authority as `sha256:…`, short enough for a command line. */
  readonly caPin: string;
  /** The user `admin` of the group `asterism:admins`, over the network. */
  readonly adminConnection: Connection;
  /** The same user within this process. */
  readonly client: Client;
  /** The kubeconfig that the start wrote: context `asterism`, mode 0600. */
  readonly kubeconfigPath: string;
  createBootstrapToken(options?: BootstrapTokenOptions): Promise<BootstrapToken>;
}

/** Makes a hub of `options.dataDir`; nothing happens before its start. It can be started once. */
export function createHub(options: HubOptions): Hub {
  return new EmbeddedHub(options);
}

/** What there is while a hub runs. */
interface Running {
  url: string;
  keys: ServerPki;
  dataDir: DataDir;
  client: Client;
  controllers: Promise<void>;
}

class EmbeddedHub implements Hub {
  readonly #life: HubLife<Running>;

  constructor(options: HubOptions) {
    const { dataDir, listen = DEFAULT_LISTEN, logger } = options;
    this.#life = new HubLife({
      begin: (parts, signal) => startParts(options, parts, signal),
      explain: (error) => startError(error, { ...listen, dataDir }),
      logger,
    });
  }

  start(): Promise<void> {
    return this.#life.start();
  }

  stop(): Promise<void> {
    return this.#life.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get done(): Promise<void> {
    return this.#life.done;
  }

  get url(): string {
    return this.#life.running.url;
  }

  get ca(): string {
    return this.#life.running.keys.ca.cert;
  }

  get caPin(): string {
    return certificatePin(this.ca);
  }

  get adminConnection(): Connection {
    return adminConnection(this.#life.running);
  }

  get client(): Client {
    return this.#life.running.client;
  }

  get kubeconfigPath(): string {
    return this.#life.running.dataDir.kubeconfig;
  }

  createBootstrapToken(options: BootstrapTokenOptions = {}): Promise<BootstrapToken> {
    return createBootstrapToken(this.client, options);
  }
}

/** Starts part after part; `parts` ends them in the opposite order, also when one of them does not start. */
async function startParts(options: HubOptions, parts: AsyncDisposableStack, signal: AbortSignal): Promise<Running> {
  const {
    audit,
    oidc,
    signingDurationMs,
    status,
    logger,
    listen = DEFAULT_LISTEN,
    advertise = [],
    timing = {},
  } = options;
  const dataDir = parts.use(await openDataDir(options.dataDir));
  const { certificateLifeMs: lifeMs = LEAF_MS } = timing;
  const folder = { dir: dataDir.pki, hosts: hostsOf(listen.host, advertise), lifeMs };
  const keys = await openHubKeys({ ...folder, now: wallNow() });
  const limits = options.reachLimits;
  const { tunnels, extensions, ...reach } = await openReach(
    { dataDir, tunnels: openTunnels(logger), logger, limits },
    parts,
  );
  const server = createApiServer({
    ...FOR_TEMPLATES,
    storage: createSqliteStorage({ file: dataDir.hubDatabase, reserve: true }),
    listen,
    tls: tlsOf(keys),
    clientCa: keys.ca.cert,
    signer: keys.ca,
    privilegedGroups: [ADMINS_GROUP],
    bootstrapTokens: true,
    serviceAccounts: { issuer: 'https://kubernetes.default.svc', key: keys.serviceAccountKey },
    checks: [...POLICY_CHECKS, ...STATUS_CHECKS],
    admission: hubAdmission(() => local),
    identityLimits: IDENTITY_LIMITS,
    extensions,
    ...(audit && { audit }),
    ...(oidc && { oidc }),
    ...(signingDurationMs !== undefined && { signingDurationMs }),
    logger,
  });
  parts.defer(() => server.stop());
  const { port } = await server.start();
  parts.defer(() => tunnels.drain());
  const url = serverUrl(listen.host, port, advertise);
  const local = createClient({
    transport: server.transport(IN_PROCESS_USER),
    userAgent: 'asterism-hub',
    ...TRUSTED_SERVER,
  });
  await install(local, {
    roles: EMBEDDED_ROLES,
    clock: systemClock,
    logger,
    signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS),
  });
  // On a kube-apiserver its kube-controller-manager does that.
  const further = [createTokenCleaner()];
  const isDamaged = (server.storage?.damaged.length ?? 0) > 0;
  const controllers = await runControllers({
    client: local,
    authorsRecorded: true,
    isDamaged,
    ...reach,
    status,
    further,
    logger,
    timing,
    signal,
  });
  parts.defer(() => controllers.stop());
  const admin = { username: ADMIN_USER, groups: [ADMINS_GROUP, 'system:authenticated'] };
  const client = createClient({ transport: server.transport(admin), userAgent: 'asterism', ...TRUSTED_SERVER });
  const running = { url, keys, dataDir, client, controllers: controllers.done };
  const use = (renewed: ServerPki): void => {
    server.replaceCertificate(tlsOf(renewed));
    running.keys = renewed;
    writeKubeconfig(dataDir.kubeconfig, formatKubeconfig(adminConnection(running)));
  };
  use(keys);
  parts.use(keepHubKeys({ keys, folder, use, clock: systemClock, logger }));
  logger.info({ url, dataDir: dataDir.path }, 'the hub is ready');
  return running;
}

/** For the hub's kinds and roles in an API server of its own, ms. */
const INSTALL_TIMEOUT_MS = 60_000;

function adminConnection({ url, keys }: Pick<Running, 'url' | 'keys'>) {
  const credential = { kind: 'certificate' as const, cert: keys.admin.cert, key: keys.admin.key };
  return { server: url, caData: keys.ca.cert, credential };
}
