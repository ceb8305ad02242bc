import { isIP } from 'node:net';
import { hostname } from 'node:os';
import {
  type ApiExtension,
  type ApiServer,
  createApiServer,
  createDelegation,
  createSqliteStorage,
  type Delegation,
  LEAF_MS,
  type ServerPki,
} from '@asterism/apiserver';
import { type Client, createClient, createTransport, systemClock, TRUSTED_SERVER, wallNow } from '@asterism/client';
import { ADMINS_GROUP, HUB_LEASE, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { NAMESPACES } from '@asterism/machinery';
import { type DataDir, openDataDir } from './data-dir.ts';
import { HUB_SERVICE_HOSTS } from './aggregated-objects.ts';
import { HOST_ROLES } from './default-objects.ts';
import { forwardedKinds } from './forwarded-kinds.ts';
import { HubError } from './hub-error.ts';
import { openHubKeys, tlsOf } from './hub-keys.ts';
import { HubLife } from './hub-life.ts';
import type { HubOnKubernetesOptions } from './hub-options.ts';
import { IN_PROCESS_USER } from './in-process-user.ts';
import { install } from './install.ts';
import { keepHubKeys } from './keep-hub-keys.ts';
import { formatKubeconfig, writeKubeconfig } from './kubeconfig.ts';
import { openReach, openTunnels } from './open-reach.ts';
import { openReplicas } from './replicas/open-replicas.ts';
import { createAggregationController, untilLedElsewhere } from './register-aggregation.ts';
import { runControllers } from './run-controllers.ts';
import { hostsOf, isAnyAddress, isLoopback, serverUrl } from './serving-address.ts';
import { startError } from './start-error.ts';
import { takeIdentity } from './take-identity.ts';
import { claimTemplatesHome, type TemplatesHome } from './templates-home.ts';
import { type HostPatience, whenHostAnswers } from './when-host-answers.ts';
import { FOR_TEMPLATES } from './template-admission.ts';

/** A hub process on an existing kube-apiserver (the "host"). Several may share one: one leads, the others stand by. */
export interface HubOnKubernetes extends AsyncDisposable {
  /**
   * Resolves when the host has Asterism's kinds, this process serves and waits to lead, or leads already. A host that does not
   * answer is waited for. Rejects with `HubError`; nothing is left open then.
   */
  start(): Promise<void>;
  /** Lets running calls end and gives up the leadership. What is registered in the host stays. */
  stop(): Promise<void>;
  /** Resolves when this process leads, and the host reaches it for the aggregated APIs. Rejects when it stops before. */
  readonly leading: Promise<void>;
  /** Rejects when the leadership is lost or a part fails, after this process has been stopped; resolves after `stop`. */
  readonly done: Promise<void>;
  /** `https://host:port` of this process. With embedded templates, where they are. Throws before the start. */
  readonly url: string;
  /** PEM of the authority of `url`. Throws before the start. */
  readonly ca: string;
}

/**
 * Makes a hub on the kube-apiserver of `options.host`; nothing happens before its start. It can be started once.
 *
 * The process serves `proxy.asterism.dev` and `search.asterism.dev` to the host's aggregator (with embedded templates, every
 * kind of Kubernetes too); who callers are and what they may do, the host says. Throws `HubError` `AddressNeeded`.
 */
export function createHubOnKubernetes(options: HubOnKubernetesOptions): HubOnKubernetes {
  if (options.advertise === undefined && isAnyAddress(options.listen.host)) {
    throw new HubError(
      'AddressNeeded',
      `the hub listens on every address (${options.listen.host}), and the API server must be told one: say with --advertise ` +
        'by which name or address it reaches this machine',
    );
  }
  const reached = options.advertise?.host ?? options.listen.host;
  if (options.serve === 'all' && (isIP(reached) === 0 || isLoopback(reached))) {
    throw new HubError(
      'AddressNeeded',
      `where all processes of a hub take calls, each is an address of a Service, which must be an IP address and none of loopback; ` +
        `this one is reached at ${reached}: say another with --advertise`,
    );
  }
  return new HostedHub(options);
}

/** What there is while a hub runs. */
interface Running {
  url: string;
  keys: ServerPki;
  controllers: Promise<void>;
}

class HostedHub implements HubOnKubernetes {
  readonly #life: HubLife<Running>;
  readonly #leading = Promise.withResolvers<void>();

  constructor(options: HubOnKubernetesOptions) {
    const { dataDir, listen, logger } = options;
    this.#leading.promise.catch(() => {}); // Whoever does not look at it need not.
    this.#life = new HubLife({
      begin: (parts, signal) => startParts(options, { parts, signal, onLeading: () => this.#leading.resolve() }),
      explain: (error) => startError(error, { ...listen, dataDir }),
      logger,
    });
    const never = (): void => this.#leading.reject(new Error('the hub was stopped before it led'));
    this.#life.done.then(never, never);
  }

  async start(): Promise<void> {
    try {
      await this.#life.start();
    } catch (error) {
      this.#leading.reject(error);
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#life.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get leading(): Promise<void> {
    return this.#leading.promise;
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
}

interface Start {
  parts: AsyncDisposableStack;
  /** Aborts when the hub is stopped meanwhile. */
  signal: AbortSignal;
  onLeading: () => void;
}

/** Starts part after part; `parts` ends them in the opposite order, also when one of them does not start. */
async function startParts(options: HubOnKubernetesOptions, start: Start): Promise<Running> {
  const { listen, advertise, status, logger, timing = {} } = options;
  const { parts, signal } = start;
  const names = advertise ? [advertise.host] : [];
  const dataDir = parts.use(await openDataDir(options.dataDir));
  const { certificateLifeMs: lifeMs = LEAF_MS } = timing;
  const folder = { dir: dataDir.pki, hosts: [...hostsOf(listen.host, names), ...HUB_SERVICE_HOSTS], lifeMs };
  const keys = await openHubKeys({ ...folder, now: wallNow() });
  const host = createClient({
    transport: parts.use(createTransport(options.host)),
    userAgent: 'asterism-hub',
    ...TRUSTED_SERVER,
  });
  const patience = { server: options.host.server, clock: systemClock, logger, signal };
  const delegation = await openHost(host, patience, parts);
  const replicas = await openReplicas(
    { ...replicaAddress(options), local: openTunnels(logger), client: host, logger },
    parts,
  );
  const limits = options.reachLimits;
  const { tunnels, extensions, ...reach } = await openReach(
    { dataDir, tunnels: replicas.tunnels, logger, limits },
    parts,
  );
  const serving = { host, delegation, extensions, dataDir, keys };
  const { server, templates } =
    options.templates === 'host' ? plainServer(options, serving) : await templatesServer(options, serving);
  // The calls that this server still answers may go through the others.
  parts.defer(() => replicas.leave());
  parts.defer(() => server.stop());
  const { port } = await server.start();
  const use = (renewed: ServerPki): void => server.replaceCertificate(tlsOf(renewed));
  parts.use(keepHubKeys({ keys, folder, use, clock: systemClock, logger }));
  parts.defer(() => tunnels.drain());
  const home: TemplatesHome = templates ? { in: 'embedded', store: await storeOf(templates) } : { in: 'host' };
  const claim = (ending: AbortSignal): Promise<void> =>
    whenHostAnswers(() => claimTemplatesHome(host, home, ending), { ...patience, signal: ending });
  await claim(signal);
  const target = { host: advertise?.host ?? listen.host, port: advertise?.port ?? port, ca: keys.ca.cert };
  const url = serverUrl(target.host, target.port, []);
  if (templates) {
    writeKubeconfig(
      dataDir.templatesKubeconfig,
      formatKubeconfig({ ...options.host, ...hereOnly, server: url, caData: target.ca }),
    );
  }
  const controllers = await runControllers({
    client: host,
    templates,
    authorsRecorded: false,
    isDamaged: (server.storage?.damaged.length ?? 0) > 0,
    ...reach,
    status,
    logger,
    timing,
    further: [
      createAggregationController(target, {
        onReached: start.onLeading,
        onServing: options.serve === 'all' ? replicas.onServing : undefined,
      }),
    ],
    standby: [(cache) => replicas.register(cache, target)],
    leaderElection: {
      ...timing,
      namespace: SYSTEM_NAMESPACE,
      name: HUB_LEASE,
      ...takeIdentity(dataDir, options.identity ?? hostname()),
      // Another hub, with other templates, may have had the fleet meanwhile.
      onElected: claim,
    },
    signal,
  });
  parts.defer(async () => {
    // Nobody is led here any more before the first part ends. The leader, this one too, sees to that.
    const othersServe = (await replicas.retire()) && options.serve === 'all';
    if (othersServe) await untilLedElsewhere(host, target, systemClock);
    await controllers.stop();
  });
  logger.info({ url, dataDir: dataDir.path, host: options.host.server }, 'the hub serves, and waits to lead');
  return { url, keys, controllers: controllers.done };
}

/** Where the other replicas find this one: beside where it serves, unless it is told otherwise. */
function replicaAddress({ listen, advertise, replica }: HubOnKubernetesOptions) {
  return {
    listen: replica?.listen ?? { host: listen.host, port: 0 },
    advertise: replica?.advertise ?? { host: advertise?.host ?? listen.host },
  };
}

/** What the host's server needs to be known by is not this one's. */
const hereOnly = { tlsServerName: undefined, insecureSkipTlsVerify: undefined };

/** Brings the host to what the hub needs, as soon as it answers. */
async function openHost(host: Client, patience: HostPatience, parts: AsyncDisposableStack): Promise<Delegation> {
  const { logger } = patience;
  await whenHostAnswers(() => install(host, { ...patience, roles: HOST_ROLES }), patience);
  return parts.use(await whenHostAnswers(() => createDelegation({ client: host, logger }), patience));
}

interface Serving {
  host: Client;
  delegation: Delegation;
  extensions: readonly ApiExtension[];
  dataDir: DataDir;
  keys: ServerPki;
}

interface Served {
  server: ApiServer;
  /** The hub itself, in the API server that holds the templates; undefined where that is the host. */
  templates: Client | undefined;
}

/** The ways into the members and the search, and nothing else. */
function plainServer(
  { audit, listen, logger }: HubOnKubernetesOptions,
  { delegation, extensions, keys }: Serving,
): Served {
  const server = createApiServer({
    kinds: 'none',
    delegation,
    listen,
    tls: tlsOf(keys),
    extensions: [...extensions],
    ...(audit && { audit }),
    logger,
  });
  return { server, templates: undefined };
}

/** Beside them every kind of Kubernetes, which nobody acts on here, and the host's own of `asterism.dev`. */
async function templatesServer({ audit, listen, logger }: HubOnKubernetesOptions, serving: Serving): Promise<Served> {
  const { host, delegation, extensions, dataDir, keys } = serving;
  const kinds = await forwardedKinds({ host, templates: () => templates });
  const server = createApiServer({
    ...FOR_TEMPLATES,
    kinds: 'builtin',
    storage: createSqliteStorage({ file: dataDir.templatesDatabase, reserve: true }),
    delegation,
    listen,
    tls: tlsOf(keys),
    rootCa: keys.ca.cert,
    privilegedGroups: [ADMINS_GROUP],
    extensions: [kinds, ...extensions],
    ...(audit && { audit }),
    logger,
  });
  const templates = createClient({
    transport: server.transport(IN_PROCESS_USER),
    userAgent: 'asterism-hub',
    ...TRUSTED_SERVER,
  });
  return { server, templates };
}

/** What tells one store from another, for as long as it lives. */
async function storeOf(templates: Client): Promise<string> {
  const { metadata } = await templates.resource(NAMESPACES).get({ name: 'kube-system' });
  return metadata?.uid ?? '';
}
