import { formatApiVersion } from '@asterism/machinery';
import type { ApiServerOptions } from './api-server-options.ts';
import { createAuthentication } from './authentication/create-authentication.ts';
import type { UserInfo } from './authentication/user-info.ts';
import { accessReviews } from './authorization/access-reviews.ts';
import { type Authorization, startAuthorization } from './authorization/start-authorization.ts';
import { startBackgroundWork, startOwnWork } from './background-work.ts';
import { delegatedAuthorization } from './delegation/delegated-authorization.ts';
import { createDiscovery } from './discovery/discovery-handler.ts';
import type { ApiExtension } from './http/api-extension.ts';
import { ExtensionRouter } from './http/extension-router.ts';
import { kubernetesChecks } from './http/health-checks.ts';
import type { HealthCheck, HealthEndpoints } from './http/health.ts';
import { FairSeats } from './http/fair-seats.ts';
import { Metrics } from './http/metrics.ts';
import { createPathHandler } from './http/paths.ts';
import { NO_RESOURCES, RequestChain } from './http/request-chain.ts';
import { ResourceHandler } from './http/resource-handler.ts';
import { DEFAULT_GIT_VERSION, versionInfo } from './http/version-info.ts';
import { createOpenApi } from './openapi/openapi-handler.ts';
import { publishClientCa } from './publish-client-ca.ts';
import { createRegistry } from './registry/create-registry.ts';
import type { AdmissionStep, Registry } from './registry/registry.ts';
import { ensureSystemObjects } from './system-objects.ts';

const DEFAULT_MAX_IN_FLIGHT = 400;

export interface ServerCoreOptions extends ApiServerOptions {
  /** Who the server is in what it writes. */
  user: UserInfo;
  /** `host:port`, as discovery names it. */
  address(): string;
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

  /** Opens the registry, makes sure of what every server has, and starts what runs by itself. */
  static async start(options: ServerCoreOptions): Promise<ServerCore> {
    const admission: AdmissionStep[] = [];
    const { clock = Date.now, storage, user, serviceAddressRange } = options;
    const registry =
      options.kinds === 'none' || storage === undefined
        ? undefined
        : await createRegistry({ storage, clock, admission, ...(serviceAddressRange && { serviceAddressRange }) });
    const stopped = new AbortController();
    try {
      if (registry !== undefined) {
        await ensureSystemObjects(registry, user);
        if (options.clientCa !== undefined) await publishClientCa(registry, user, options.clientCa);
      }
      const authorization = await startAuthorizationOf(options, registry, admission, stopped.signal);
      return new ServerCore(options, registry, authorization, stopped);
    } catch (error) {
      stopped.abort();
      await registry?.close();
      throw error;
    }
  }

  private constructor(
    options: ServerCoreOptions,
    registry: Registry | undefined,
    authorization: Authorization,
    stopped: AbortController,
  ) {
    const { clock = Date.now, delegation, logger } = options;
    const { authorizer } = authorization;
    this.#registry = registry;
    this.#delegates = delegation !== undefined;
    this.#stopped = stopped;
    this.#extensions = new ExtensionRouter({
      authorizer,
      connects: options.connects,
      isIdentityHeader: delegation && ((name) => delegation.isIdentityHeader(name)),
    });
    const version = versionInfo(options.version?.gitVersion ?? DEFAULT_GIT_VERSION);
    const served = { kinds: registry, extensions: () => this.#extensions.all };
    this.#discovery = createDiscovery({
      ...served,
      legacyVersions: options.legacyVersions ?? true,
      serverAddress: () => options.address(),
    });
    this.#openapi = createOpenApi({ ...served, gitVersion: version.gitVersion });
    for (const extension of options.extensions ?? []) this.addExtension(extension);
    const metrics = new Metrics();
    const authentication = createAuthentication(options, registry, clock);
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
      logger,
      clock,
    });
    if (registry !== undefined) startOwnWork(options, registry, options.user, stopped.signal);
    const background = registry !== undefined && (options.controllers ?? true);
    const { legacyTokens } = authentication;
    const work = background
      ? startBackgroundWork(options, { registry, user: options.user, authorizer, legacyTokens, signal: stopped.signal })
      : undefined;
    this.#ended = Promise.all([authorization.ended, work?.ended]);
  }

  addExtension(extension: ApiExtension): void {
    if (extension.actsAsCaller && !this.#delegates) {
      throw new TypeError(
        `${formatApiVersion(extension)} acts in its callers' names at another API server: that needs \`delegation\` to it`,
      );
    }
    this.#extensions.add(extension);
    this.#discovery.changed();
    this.#openapi.changed();
  }

  /** Ends what runs by itself, then the registry and its storage. */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
    await this.#registry?.close();
  }
}

/** By another server, by the roles in the registry, or by nobody. */
async function startAuthorizationOf(
  options: ServerCoreOptions,
  registry: Registry | undefined,
  admission: AdmissionStep[],
  signal: AbortSignal,
): Promise<Authorization> {
  if (options.delegation !== undefined) return delegatedAuthorization(options.delegation, admission);
  return await startAuthorization({
    mode: options.authorization ?? 'RBAC',
    registry,
    user: options.user,
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
      : kubernetesChecks({ storage, shutdown });
  return {
    ...checks,
    onFailure: (endpoint, check, error) => logger?.warn({ err: error, endpoint, check }, 'a health check failed'),
  };
}
