import type { ApiServerOptions } from './api-server-options.ts';
import { createAuthentication } from './authentication/create-authentication.ts';
import type { UserInfo } from './authentication/user-info.ts';
import { accessReviews } from './authorization/access-reviews.ts';
import { type Authorization, startAuthorization } from './authorization/start-authorization.ts';
import { startBackgroundWork } from './background-work.ts';
import { createDiscovery } from './discovery/discovery-handler.ts';
import type { ApiExtension } from './http/api-extension.ts';
import { ExtensionRouter } from './http/extension-router.ts';
import type { HealthCheck, HealthEndpoints } from './http/health.ts';
import { InFlightLimit } from './http/in-flight-limit.ts';
import { Metrics } from './http/metrics.ts';
import { createPathHandler } from './http/paths.ts';
import { RequestChain } from './http/request-chain.ts';
import { ResourceHandler } from './http/resource-handler.ts';
import { DEFAULT_GIT_VERSION, versionInfo } from './http/version-info.ts';
import { createOpenApi } from './openapi/openapi-handler.ts';
import { createRegistry } from './registry/create-registry.ts';
import type { AdmissionStep, Registry } from './registry/registry.ts';
import { ensureSystemNamespaces } from './system-namespaces.ts';

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
  readonly #registry: Registry;
  readonly #extensions: ExtensionRouter;
  readonly #discovery: ReturnType<typeof createDiscovery>;
  readonly #stopped: AbortController;
  readonly #ended: Promise<unknown>;

  /** Opens the registry, makes sure of what every server has, and starts what runs by itself. */
  static async start(options: ServerCoreOptions): Promise<ServerCore> {
    const admission: AdmissionStep[] = [];
    const { clock = Date.now, logger, storage, user } = options;
    const registry = await createRegistry({ storage, clock, admission });
    const stopped = new AbortController();
    try {
      await ensureSystemNamespaces(registry, user);
      const authorization = await startAuthorization({
        mode: options.authorization ?? 'RBAC',
        registry,
        user,
        controllers: options.controllers ?? true,
        admission,
        signal: stopped.signal,
        onError: (error) => logger?.error({ err: error }, 'authorization failed in the background'),
      });
      return new ServerCore(options, registry, authorization, stopped);
    } catch (error) {
      stopped.abort();
      await registry.close();
      throw error;
    }
  }

  private constructor(
    options: ServerCoreOptions,
    registry: Registry,
    authorization: Authorization,
    stopped: AbortController,
  ) {
    const { clock = Date.now, logger } = options;
    const { authorizer } = authorization;
    this.#registry = registry;
    this.#stopped = stopped;
    this.#extensions = new ExtensionRouter(authorizer, options.connects);
    this.#discovery = createDiscovery({
      registry,
      extensions: () => this.#extensions.all,
      serverAddress: () => options.address(),
    });
    for (const extension of options.extensions ?? []) this.addExtension(extension);
    const metrics = new Metrics();
    const authentication = createAuthentication(options, registry, clock);
    const reviews = accessReviews(authorizer, authorization.rulesReview);
    const version = versionInfo(options.version?.gitVersion ?? DEFAULT_GIT_VERSION);
    this.chain = new RequestChain({
      authenticate: authentication.authenticate,
      authorizer,
      extensions: this.#extensions,
      resources: new ResourceHandler({
        registry,
        creations: new Map([...authentication.creations, ...reviews]),
        clock,
        random: Math.random,
        onWatchEvents: ({ type }, count) => metrics.watchEvents(type.group, type.version, type.resource, count),
      }),
      paths: createPathHandler({
        discovery: this.#discovery,
        openapi: createOpenApi(registry, version.gitVersion),
        health: healthEndpoints(registry, stopped.signal, options),
        metrics,
        version,
        serviceAccountTokens: authentication.serviceAccountTokens,
      }),
      inFlight: new InFlightLimit(options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT),
      metrics,
      logger,
      clock,
    });
    const background = options.controllers ?? true;
    const work = background ? startBackgroundWork(options, registry, options.user, stopped.signal) : undefined;
    this.#ended = Promise.all([authorization.ended, work?.ended]);
  }

  addExtension(extension: ApiExtension): void {
    this.#extensions.add(extension);
    this.#discovery.changed();
  }

  /** Ends what runs by itself, then the registry and its storage. */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
    await this.#registry.close();
  }
}

function healthEndpoints(registry: Registry, stopped: AbortSignal, { logger }: ServerCoreOptions): HealthEndpoints {
  const live: HealthCheck[] = [
    { name: 'ping', check: () => {} },
    {
      name: 'registry',
      check: () => {
        if (registry.served().length === 0) throw new Error('the registry serves nothing');
      },
    },
  ];
  const shutdown: HealthCheck = {
    name: 'shutdown',
    check: () => {
      if (stopped.aborted) throw new Error('the server is stopping');
    },
  };
  return {
    live,
    ready: [...live, shutdown],
    onFailure: (endpoint, check, error) => logger?.warn({ err: error, endpoint, check }, 'a health check failed'),
  };
}
