import { isIP } from 'node:net';
import { createApiServer, createSqliteStorage, type ServerPki } from '@asterism/apiserver';
import { type Client, type Connection, createClient, systemClock } from '@asterism/client';
import { ADMINS_GROUP } from '@asterism/fleet/api';
import {
  type BootstrapToken,
  type BootstrapTokenOptions,
  certificatePin,
  createBootstrapToken,
  createClusterConnections,
} from '@asterism/fleet/join';
import { createReachExtension } from '@asterism/fleet/reach';
import { SearchCatalogue, searchExtension } from '@asterism/fleet/search';
import { createSqliteStore } from '@asterism/store';
import { createTunnelHub } from '@asterism/tunnel';
import { type DataDir, openDataDir } from './data-dir.ts';
import { ADMIN_USER, openHubKeys } from './hub-keys.ts';
import { DEFAULT_LISTEN, type HubOptions } from './hub-options.ts';
import { install } from './install.ts';
import { formatKubeconfig, writeKubeconfig } from './kubeconfig.ts';
import { runControllers } from './run-controllers.ts';
import { startError } from './start-error.ts';

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
  /** Resolves when the controllers were stopped, rejects when one of them failed. */
  controllers: Promise<void>;
}

class EmbeddedHub implements Hub {
  readonly #options: HubOptions;
  readonly #parts = new AsyncDisposableStack();
  readonly #stopped = Promise.withResolvers<void>();
  #starting: Promise<Running> | undefined;
  #running: Running | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#stopped.promise.catch(() => {}); // Whoever does not look at `done` need not.
  }

  async start(): Promise<void> {
    this.#starting ??= startParts(this.#options, this.#parts);
    try {
      this.#running = await this.#starting;
    } catch (error) {
      await this.#parts.disposeAsync();
      throw startError(error, { ...(this.#options.listen ?? DEFAULT_LISTEN), dataDir: this.#options.dataDir });
    }
    this.#running.controllers.catch(async (error: unknown) => {
      this.#options.logger.error({ err: error }, 'a part of the hub failed: it stops');
      await this.#parts.disposeAsync();
      this.#stopped.reject(error);
    });
  }

  async stop(): Promise<void> {
    await this.#starting?.catch(() => {});
    await this.#parts.disposeAsync();
    this.#stopped.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get done(): Promise<void> {
    return this.#stopped.promise;
  }

  get url(): string {
    return this.#now.url;
  }

  get ca(): string {
    return this.#now.keys.ca.cert;
  }

  get caPin(): string {
    return certificatePin(this.ca);
  }

  get adminConnection(): Connection {
    return adminConnection(this.#now);
  }

  get client(): Client {
    return this.#now.client;
  }

  get kubeconfigPath(): string {
    return this.#now.dataDir.kubeconfig;
  }

  createBootstrapToken(options: BootstrapTokenOptions = {}): Promise<BootstrapToken> {
    return createBootstrapToken(this.client, options);
  }

  get #now(): Running {
    if (!this.#running) throw new Error('the hub has not been started');
    return this.#running;
  }
}

/** Starts part after part; `parts` ends them in the opposite order, also when one of them does not start. */
async function startParts(options: HubOptions, parts: AsyncDisposableStack): Promise<Running> {
  const { logger, listen = DEFAULT_LISTEN, advertise = [] } = options;
  const dataDir = parts.use(await openDataDir(options.dataDir));
  const keys = await openHubKeys(dataDir.pki, hostsOf(listen.host, advertise), Date.now());
  const tunnels = createTunnelHub({ logger, limits: { drainTimeoutMs: DRAIN_MS } });
  const connections = createClusterConnections(tunnels);
  const search = {
    store: parts.use(await createSqliteStore({ file: dataDir.searchDatabase })),
    catalogue: new SearchCatalogue(),
  };
  const server = createApiServer({
    storage: createSqliteStorage({ file: dataDir.hubDatabase }),
    listen,
    tls: { cert: keys.serving.cert + keys.ca.cert, key: keys.serving.key },
    clientCa: keys.ca.cert,
    signer: keys.ca,
    bootstrapTokens: true,
    serviceAccounts: { issuer: 'https://kubernetes.default.svc', key: keys.serviceAccountKey },
    extensions: [createReachExtension({ connections, tunnels, logger }), searchExtension(search)],
    logger,
  });
  parts.defer(() => server.stop());
  const { port } = await server.start();
  parts.defer(() => tunnels.drain());
  const url = `https://${nameOf(listen.host, advertise)}:${port}`;
  const local = createClient({
    transport: server.transport({ username: 'asterism:hub', groups: ['system:masters', 'system:authenticated'] }),
    userAgent: 'asterism-hub',
  });
  await install(local, systemClock, AbortSignal.timeout(INSTALL_TIMEOUT_MS));
  const controllers = await runControllers({
    client: local,
    connections,
    search,
    logger,
    timing: options.timing ?? {},
  });
  parts.defer(() => controllers.stop());
  const admin = { username: ADMIN_USER, groups: [ADMINS_GROUP, 'system:authenticated'] };
  const client = createClient({ transport: server.transport(admin), userAgent: 'asterism' });
  const running = { url, keys, dataDir, client, controllers: controllers.done };
  writeKubeconfig(dataDir.kubeconfig, formatKubeconfig(adminConnection(running)));
  logger.info({ url, dataDir: dataDir.path }, 'the hub is ready');
  return running;
}

/** For the hub's kinds and roles in an API server of its own, ms. */
const INSTALL_TIMEOUT_MS = 60_000;

/** How long calls through a tunnel may take to end when the hub stops, ms. */
const DRAIN_MS = 1_000;

const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/** The names that the serving certificate bears. */
function hostsOf(host: string, advertise: readonly string[]): string[] {
  return [...new Set(['localhost', '127.0.0.1', ...(ANY_ADDRESS.has(host) ? [] : [host]), ...advertise])];
}

/** How clients on this machine, or where it advertises more on others, call the hub. */
function nameOf(host: string, [advertised]: readonly string[]): string {
  const name = advertised ?? (ANY_ADDRESS.has(host) ? '127.0.0.1' : host);
  return isIP(name) === 6 ? `[${name}]` : name;
}

function adminConnection({ url, keys }: Pick<Running, 'url' | 'keys'>) {
  const credential = { kind: 'certificate' as const, cert: keys.admin.cert, key: keys.admin.key };
  return { server: url, caData: keys.ca.cert, credential };
}
