import { wallNow } from '@asterism/client';
import { formatApiVersion } from '@asterism/machinery';
import { Aggregation } from '../aggregation/aggregation.ts';
import type { ApiServerOptions } from './api-server-options.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { ServiceAt } from '../aggregation/aggregation-options.ts';
import type { Authorizer } from '../contract/authorizer.ts';
import { createConnectionAdmission } from '../http/admit-connection.ts';
import { AdmissionMetrics } from '../webhooks/admission-metrics.ts';
import { createAuthentication } from './create-authentication.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { accessReviews } from '../authorization/access-reviews.ts';
import { type Authorization, startAuthorization } from '../authorization/start-authorization.ts';
import { startBackgroundWork, startOwnWork } from './background-work.ts';
import { delegatedAuthorization } from '../delegation/delegated-authorization.ts';
import { createDiscovery } from '../discovery/discovery-handler.ts';
import type { ApiExtension } from '../http/extension/api-extension.ts';
import { ExtensionRouter } from '../http/extension/extension-router.ts';
import { kubernetesChecks } from '../http/health/health-checks.ts';
import type { HealthCheck, HealthEndpoints } from '../http/health/health.ts';
import { FairSeats } from '../http/wire/fair-seats.ts';
import { Metrics } from '../http/health/metrics.ts';
import { createPathHandler } from './paths.ts';
import { NO_RESOURCES, RequestChain } from './request-chain.ts';
import { ResourceHandler } from '../http/resource-handler.ts';
import { DEFAULT_GIT_VERSION, versionInfo } from '../http/health/version-info.ts';
import { advertisedAddress } from '../kubernetes-service/advertised-address.ts';
import { ensureServiceAddresses } from '../kubernetes-service/ensure-service-addresses.ts';
import { createKubernetesService, type KubernetesService } from '../kubernetes-service/kubernetes-service.ts';
import { nodeConnects } from '../nodes/node-connects.ts';
import { createOpenApi } from '../openapi/openapi-handler.ts';
import { publishClientCa } from './publish-client-ca.ts';
import { limitIdentities } from '../identity-limits/limit-identities.ts';
import { reportStorage, storageCheck, storageMetrics } from './report-storage.ts';
import { createRegistry, DEFAULT_SERVICE_RANGE } from './create-registry.ts';
import { createObjectChecks } from '../registry/object-checks.ts';
import type { Registry } from '../registry/registry.ts';
import type { StorageState } from '../storage/object-store.ts';
import { firstAddress } from '../kinds/service/service-allocator.ts';
import { ensureSystemObjects } from './system-objects.ts';
import type { AdmissionStep } from '../contract/admission-step.ts';

const DEFAULT_MAX_IN_FLIGHT = 400;

export interface ServerCoreOptions extends ApiServerOptions {
  /** Who the server is in what it writes. */
  user: UserInfo;
  /** `host:port`, as discovery names it. */
  address(): string;
}

/** What is begun before the server is put together. */
interface RunningParts {
  stopped: AbortController;
  auditor: Auditor | undefined;
  /** Undefined where the server has no kinds of its own, as the next. */
  aggregation: Aggregation | undefined;
  service: KubernetesService | undefined;
  webhookMetrics: AdmissionMetrics;
}

/** A server that is running, without its wire. */
export class ServerCore {
  readonly chain: RequestChain;
  /** Undefined where the server has no kinds of its own. */
  readonly #registry: Registry | undefined;
  readonly #extensions: ExtensionRouter;
  readonly #discovery: ReturnType<typeof createDiscovery>;
  readonly #openapi: ReturnType<typeof createOpenApi>;
  readonly #delegates: boolean;
  readonly #stopped: AbortController;
  readonly #ended: Promise<unknown>;
  readonly #auditor: Auditor | undefined;
  readonly #service: KubernetesService | undefined;

  /** Opens the registry, makes sure of what every server has, and starts what runs by itself. */
  static async start(options: ServerCoreOptions): Promise<ServerCore> {
    const admission: AdmissionStep[] = options.checks ? [createObjectChecks(options.checks)] : [];
    const { admissionPlugins, clock = wallNow, random = Math.random, storage, user, serviceAddressRange } = options;
    const { webhooks, ...callers } = webhookSurroundings(options);
    const range = serviceAddressRange && { serviceAddressRange };
    const registry =
      options.kinds === 'none' || storage === undefined
        ? undefined
        : await createRegistry({ storage, clock, random, admission, admissionPlugins, webhooks, ...range });
    const stopped = new AbortController();
    const service = registry && kubernetesServiceOf(options, registry, stopped.signal);
    let auditor: Auditor | undefined;
    try {
      auditor = await openAudit(options, clock);
      if (registry !== undefined) {
        reportStorage(registry, options.logger);
        const { identityLimits } = options;
        if (identityLimits) admission.push(...limitIdentities(identityLimits, { registry, clock }));
        await ensureSystemObjects(registry, user);
        await ensureServiceAddresses(registry, user, clock());
        await service?.ensure();
        const { clientCa, aggregation } = options;
        await publishClientCa(registry, user, { clientCa, proxyClient: aggregation?.proxyClient });
      }
      const authorization = await startAuthorizationOf(options, registry, admission, stopped.signal);
      admission.push(...(options.admission?.(authorization.authorizer) ?? []));
      callers.decideBy(authorization.authorizer);
      const aggregation = registry && (await aggregationOf(options, registry, stopped.signal));
      return new ServerCore(options, registry, authorization, { stopped, auditor, aggregation, service, ...callers });
    } catch (error) {
      stopped.abort();
      await auditor?.close();
      await registry?.close();
      throw error;
    }
  }

  private constructor(
    options: ServerCoreOptions,
    registry: Registry | undefined,
    authorization: Authorization,
    { stopped, auditor, aggregation, service, webhookMetrics }: RunningParts,
  ) {
    const { clock = wallNow, delegation, logger } = options;
    const { authorizer } = authorization;
    this.#registry = registry;
    this.#delegates = delegation !== undefined;
    this.#stopped = stopped;
    this.#extensions = new ExtensionRouter({
      authorizer,
      connects: connectsOf(options, registry),
      admitConnection: registry && createConnectionAdmission(registry),
      aggregated: aggregation && ((info) => aggregation.find(info)),
      isIdentityHeader: delegation && ((name) => delegation.isIdentityHeader(name)),
    });
    const version = versionInfo(options.version?.gitVersion ?? DEFAULT_GIT_VERSION);
    const served = { kinds: registry, extensions: () => this.#extensions.all };
    this.#discovery = createDiscovery({
      ...served,
      legacyVersions: options.legacyVersions ?? true,
      serverAddress: () => options.address(),
      ...(aggregation && { merge: (groups) => aggregation.mergeInto(groups) }),
    });
    this.#openapi = createOpenApi({
      ...served,
      gitVersion: version.gitVersion,
      ...(aggregation && {
        isRemote: (...at) => aggregation.isRemote(...at),
        remotes: () => aggregation.descriptions(),
      }),
    });
    aggregation?.serveFor({
      isExtension: (group, version) =>
        this.#extensions.all.some((extension) => extension.group === group && extension.version === version),
      changed: () => this.#changed(),
    });
    for (const extension of options.extensions ?? []) this.addExtension(extension);
    const metrics = new Metrics();
    metrics.include(() => webhookMetrics.lines());
    if (registry !== undefined) metrics.include(() => storageMetrics(registry.storage));
    if (auditor !== undefined) metrics.include(() => auditor.metrics());
    this.#auditor = auditor;
    this.#service = service;
    const authentication = createAuthentication(options, {
      registry,
      user: options.user,
      clock,
      signal: stopped.signal,
    });
    const reviews = accessReviews(authorizer, authorization.rulesReview);
    this.chain = new RequestChain({
      authenticate: authentication.authenticate,
      authorizer,
      extensions: this.#extensions,
      resources:
        registry === undefined
          ? NO_RESOURCES
          : new ResourceHandler({
              registry,
              authorizer,
              creations: new Map([...authentication.creations, ...reviews]),
              clock,
              random: Math.random,
              onWatchEvents: ({ type }, count) => metrics.watchEvents(type.group, type.version, type.resource, count),
            }),
      paths: createPathHandler({
        discovery: this.#discovery,
        openapi: this.#openapi,
        health: healthEndpoints(registry, stopped.signal, options),
        metrics,
        version,
        serviceAccountTokens: authentication.serviceAccountTokens,
      }),
      seats: new FairSeats(options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT),
      metrics,
      auditor,
      logger,
    });
    if (registry !== undefined) startOwnWork(options, registry, options.user, stopped.signal);
    const background = registry !== undefined && (options.controllers ?? true);
    const { legacyTokens } = authentication;
    const work = background
      ? startBackgroundWork(options, { registry, user: options.user, authorizer, legacyTokens, signal: stopped.signal })
      : undefined;
    this.#ended = Promise.all([authorization.ended, work?.ended]);
  }

  /** The server listens there from now on: the Service `default/kubernetes` leads to it. */
  listens({ host, port }: { host: string; port: number }, advertised: string | undefined): void {
    if (advertised === 'none') return;
    const address = advertised ?? advertisedAddress(host);
    if (address !== undefined) this.#service?.advertise({ address, port });
  }

  get storage(): StorageState | undefined {
    return this.#registry?.storage;
  }

  addExtension(extension: ApiExtension): void {
    if (extension.actsAsCaller && !this.#delegates) {
      throw new TypeError(
        `${formatApiVersion(extension)} acts in its callers' names at another API server: that needs \`delegation\` to it`,
      );
    }
    this.#extensions.add(extension);
    this.#changed();
  }

  #changed(): void {
    this.#discovery.changed();
    this.#openapi.changed();
  }

  /** Ends what runs by itself, then the registry and its storage; last of all what is written down of requests. */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
    await this.#registry?.close();
    await this.#auditor?.close();
  }
}

/** What admission webhooks need of the server. Who decides for their conditions is known only after the registry is there. */
function webhookSurroundings({ aggregation, logger }: ServerCoreOptions) {
  const webhookMetrics = new AdmissionMetrics();
  let authorizer: Authorizer | undefined;
  const onIgnored = (error: Error): void => {
    logger?.warn({ err: error }, 'a webhook failed, and its failure policy lets the request pass');
  };
  const resolve = aggregation?.resolve && ((at: ServiceAt) => aggregation.resolve?.(at));
  return {
    webhooks: {
      authorizer: () => authorizer,
      isStarting: () => authorizer === undefined,
      metrics: webhookMetrics,
      onIgnored,
      resolve,
    },
    webhookMetrics,
    decideBy: (decides: Authorizer): void => void (authorizer = decides),
  };
}

function kubernetesServiceOf(
  options: ServerCoreOptions,
  registry: Registry,
  signal: AbortSignal,
): KubernetesService | undefined {
  if (options.kubernetesService === false) return undefined;
  const { clock = wallNow, logger, serviceAddressRange = DEFAULT_SERVICE_RANGE, user } = options;
  const onError = (what: string, error: unknown): void => {
    if (!signal.aborted) logger?.warn({ err: error, what }, 'a controller failed and tries again');
  };
  return createKubernetesService({
    registry,
    user,
    signal,
    clock,
    onError,
    clusterIp: firstAddress(serviceAddressRange),
  });
}

async function openAudit({ audit, logger }: ServerCoreOptions, clock: () => number): Promise<Auditor | undefined> {
  if (audit === undefined) return undefined;
  const { createAuditor } = await import('../audit/create-auditor.ts');
  return await createAuditor(audit, { clock, logger });
}

function connectsOf({ connects = [], kubelet, podNetwork }: ServerCoreOptions, registry: Registry | undefined) {
  return registry === undefined
    ? connects
    : [...connects, ...nodeConnects({ registry, kubelet, podNetwork }, connects)];
}

async function aggregationOf(
  { aggregation, clock = wallNow, logger, user }: ServerCoreOptions,
  registry: Registry,
  signal: AbortSignal,
): Promise<Aggregation> {
  const onError = (what: string, error: unknown): void => {
    if (!signal.aborted) logger?.warn({ err: error, what }, 'a controller failed and tries again');
  };
  return await Aggregation.start({ ...aggregation, registry, user, signal, clock, onError });
}

/** By another server, by the roles in the registry, or by nobody. */
async function startAuthorizationOf(
  options: ServerCoreOptions,
  registry: Registry | undefined,
  admission: AdmissionStep[],
  signal: AbortSignal,
): Promise<Authorization> {
  const { privilegedGroups } = options;
  if (options.delegation !== undefined) {
    return delegatedAuthorization(options.delegation, { admission, privilegedGroups });
  }
  return await startAuthorization({
    mode: options.authorization ?? 'RBAC',
    registry,
    user: options.user,
    privilegedGroups,
    controllers: options.controllers ?? true,
    admission,
    signal,
    onError: (error) => options.logger?.error({ err: error }, 'authorization failed in the background'),
  });
}

function healthEndpoints(
  registry: Registry | undefined,
  stopped: AbortSignal,
  { logger }: ServerCoreOptions,
): HealthEndpoints {
  const shutdown = (): void => {
    if (stopped.aborted) throw new Error('the server is stopping');
  };
  const ping: HealthCheck = { name: 'ping', check: () => {} };
  const storage = (): Promise<void> | undefined => registry?.settled();
  const checks =
    registry === undefined
      ? { live: [ping], ready: [ping, { name: 'shutdown', check: shutdown }] }
      : kubernetesChecks({ storage, shutdown, space: storageCheck(registry) });
  return {
    ...checks,
    onFailure: (endpoint, check, error) => {
      // The beginning and the end of that are logged, not each probe.
      if (check !== 'storage') logger?.warn({ err: error, endpoint, check }, 'a health check failed');
    },
  };
}
