import type { Clock } from '@asterism/client';
import type { ResourceType } from '@asterism/machinery';
import type { Cluster, ClusterProvider } from '../../cluster/cluster.ts';
import { createController } from '../../controller/controller.ts';
import type { Logger } from '../../log/logger.ts';
import { createManager, type Manager } from '../../lifecycle/manager.ts';
import { FakeApi } from '../../testing/fake-api.ts';

export const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
export const ALL_PODS = '/api/v1/pods';

/** All that was logged, as text. */
export class RecordedLog {
  readonly lines: string[] = [];
  readonly #waiters = new Set<() => void>();

  get logger(): Logger {
    return this.#child({});
  }

  /** Resolves with the line when there is one, from the given place on. */
  async line(pattern: RegExp, from = 0): Promise<string> {
    for (;;) {
      const found = this.lines.slice(from).find((line) => pattern.test(line));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
  }

  #child(bound: object): Logger {
    const at = (level: string) => (fields: object, message: string) => {
      this.lines.push(`${level} ${message} ${JSON.stringify({ ...bound, ...fields })}`);
      for (const resolve of this.#waiters) resolve();
      this.#waiters.clear();
    };
    const child = (fields: object): Logger => this.#child({ ...bound, ...fields });
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child };
  }
}

/** A manager with one provider and a controller that watches pods in the clusters it gives. */
export class ProviderTrial implements AsyncDisposable {
  readonly hub: FakeApi;
  readonly manager: Manager;
  readonly log: RecordedLog;
  readonly #stop = new AbortController();
  readonly #stopped: Promise<void>;
  readonly #apis: FakeApi[] = [];
  readonly #engaged = new Set<() => void>();

  static async start(
    provider: (hub: FakeApi, logger: Logger) => ClusterProvider | ClusterProvider[],
    options: { hub?: FakeApi; clock?: Clock } = {},
  ): Promise<ProviderTrial> {
    return new ProviderTrial(options.hub ?? (await FakeApi.start()), provider, options.clock);
  }

  private constructor(
    hub: FakeApi,
    provider: (hub: FakeApi, logger: Logger) => ClusterProvider | ClusterProvider[],
    clock: Clock | undefined,
  ) {
    this.hub = hub;
    this.log = new RecordedLog();
    const { logger } = this.log;
    const providers = [provider(hub, logger)].flat();
    this.manager = createManager({ client: hub.client(), providers, logger, clock, graceMs: 100 });
    this.manager.add(createController({ name: 'pods', reconcile: async () => {} }).for(PODS, { clusters: 'members' }));
    this.manager.onEngage(() => {
      for (const resolve of this.#engaged) resolve();
    });
    this.#stopped = this.manager.start(this.#stop.signal);
  }

  /** A member's API server with one pod. */
  async api(): Promise<FakeApi> {
    const api = await FakeApi.start();
    this.#apis.push(api);
    api.put(ALL_PODS, { metadata: { name: 'p', namespace: 'n' } });
    return api;
  }

  /** The cluster, when it is engaged and its pods are there. */
  async engaged(name: string): Promise<Cluster> {
    for (;;) {
      const cluster = this.manager.cluster(name);
      if (cluster && !cluster.signal.aborted) {
        const informer = cluster.cache.informer(PODS);
        await informer.synced();
        informer.release();
        return cluster;
      }
      await new Promise<void>((resolve) => this.#engaged.add(resolve));
    }
  }

  names(): string[] {
    return this.manager
      .clusters()
      .map(({ name }) => name)
      .sort();
  }

  /** Resolves when the cluster has left for good. */
  async left(name: string, from = 0): Promise<void> {
    await this.log.line(new RegExp(`cluster disengaged .*"cluster":"${name}"`), from);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    for (const api of [this.hub, ...this.#apis]) await api[Symbol.asyncDispose]();
  }
}

/** A kubeconfig with a context, a cluster and a user of each name; the first is the current one. */
export function kubeconfigOf(
  clusters: Record<string, { server: string; token?: string; user?: object; cluster?: object }>,
): string {
  const entries = Object.entries(clusters);
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': entries[0]?.[0],
    clusters: entries.map(([name, { server, cluster }]) => ({ name, cluster: { server, ...cluster } })),
    users: entries.map(([name, { token, user }]) => ({ name, user: { token, ...user } })),
    contexts: entries.map(([name]) => ({ name, context: { cluster: name, user: name } })),
  });
}
